//! How files are read that no format knows.

use uuid::Uuid;

paths! {
    "/mappings" => Mappings;
    /// Where a file is sent that is to be mapped.
    "/mappings/files" => MappingFiles;
    /// A mapping as a text.
    "/mappings/text" => MappingText;
    /// What a file that was sent becomes.
    #[derive(Copy)]
    "/mappings/files/{sample}" => NewMapping { sample: Uuid };
    /// The same of a file that says who used GPUs.
    #[derive(Copy)]
    "/mappings/files/{sample}/usage" => NewUsageMapping { sample: Uuid };
    "/mappings/usage/{mapping}/remove" => UsageMappingRemove { mapping: i64 };
    "/mappings/{mapping}" => Mapping { mapping: String };
    "/mappings/{mapping}/text" => MappingDownload { mapping: String };
    "/mappings/{mapping}/remove" => MappingRemove { mapping: String };
}
