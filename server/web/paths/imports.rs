//! Imports, and the disk space that they take.

use uuid::Uuid;

use crate::report::ChangesBy;

paths! {
    "/imports" => Imports;
    /// What was submitted together.
    #[derive(Copy)]
    "/imports/batches/{batch}" => Batch { batch: Uuid };
    "/imports/batches/{batch}/cancel" => BatchCancel { batch: Uuid };
    "/imports/batches/{batch}/retry" => BatchRetry { batch: Uuid };
    /// Files that are sent piece by piece.
    "/imports/uploads" => Uploads;
    /// Makes a batch of those that have arrived.
    "/imports/uploads/import" => UploadsImport;
    "/imports/uploads/{upload}" => Upload { upload: Uuid };
    /// How much of what it replaces an import may lack before somebody is asked.
    "/imports/limits" => ImportLimits;
    /// Which uploads wait for review.
    "/imports/review" => ImportReview;
    #[derive(Copy)]
    "/imports/{delivery}" => Delivery { delivery: i64 };
    /// What a delivery changed, by account, service or key.
    #[derive(Copy)]
    "/imports/{delivery}/changes/{by}" => DeliveryChanges { delivery: i64, by: ChangesBy };
    "/imports/{delivery}/rejections" => DeliveryRejections { delivery: i64 };
    /// Where files of an archived import are uploaded again.
    "/imports/{delivery}/files" => DeliveryFiles { delivery: i64 };
    "/imports/{delivery}/files/{file}" => DeliveryFile { delivery: i64, file: i16 };
    /// The rejected rows of a file as the file has them, to be corrected.
    "/imports/{delivery}/files/{file}/rejected" => DeliveryFileRejected { delivery: i64, file: i16 };
    /// Publishes a delivery that waits for review.
    "/imports/{delivery}/publish" => DeliveryPublish { delivery: i64 };
    "/imports/{delivery}/replace" => DeliveryReplace { delivery: i64 };
    "/imports/{delivery}/add" => DeliveryAdd { delivery: i64 };
    "/imports/{delivery}/discard" => DeliveryDiscard { delivery: i64 };
    /// Why a delivery made its months smaller.
    "/imports/{delivery}/explain" => DeliveryExplain { delivery: i64 };
    "/imports/{delivery}/undo" => DeliveryUndo { delivery: i64 };
    /// Loads the rows of an archived import again.
    "/imports/{delivery}/load-again" => DeliveryLoadAgain { delivery: i64 };

    /// What takes disk space.
    "/storage" => Storage;
    /// How large an uploaded file may be, and what uploads leave free.
    "/storage/uploads" => StorageUploads;
    /// Archives what is inactive.
    "/storage/archive" => StorageArchive;
}
