-- The mapping that an upload was saved with, by its name and version: its files are read by that, whatever other one knows their
-- columns.
alter table jobs add column mapping text;
