//! `POST /imports`: files as they arrive, chunk by chunk onto the disk, then one batch in the queue. And
//! `POST /imports/{delivery}/files`: those of an archived import, to load its rows again.

use uuid::Uuid;

use super::Page;
use super::list_query::HistoryQuery;
use crate::accounts::Person;
use crate::audit::Actor;
use crate::jobs::{self, Arriving, UploadLimits};
use crate::report;
use crate::web::error::{Error, Result};
use crate::web::extract::{Sending, Upload, Writing};
use crate::web::form::Fields;
use crate::web::layout::Layout;
use crate::web::respond;
use crate::web::{App, paths};

pub async fn create(_: paths::Imports, sending: Sending, upload: Upload) -> Result {
    let Sending { layout, person, by, app, .. } = sending;
    let arriving = receive(&app, upload).await?;
    if arriving.is_empty() {
        return no_file(layout, &person, &app).await;
    }
    hand_over(app, by, arriving).await
}

/// Files of an archived import that were removed.
pub async fn again(path: paths::DeliveryFiles, writing: Writing, upload: Upload) -> Result {
    let Writing { by, app, mut db, .. } = writing;
    let delivery = report::delivery(&mut db, path.delivery).await?.ok_or(Error::NotFound)?;
    drop(db);
    let arriving = receive(&app, upload).await?;
    let sentence = match (delivery.archived_at, arriving.is_empty()) {
        (Some(_), false) => return hand_over(app, by, arriving.reloading(path.delivery)).await,
        (Some(_), true) => "Choose the file that was imported.".to_owned(),
        (None, _) => format!("Nothing changed: import {} has its rows.", path.delivery),
    };
    Ok(respond::flash(super::at(path.delivery), &sentence))
}

/// Puts the batch in the queue, and leads to where it is followed.
pub(super) async fn hand_over(app: App, by: Actor, arriving: Arriving) -> Result {
    let batch = arriving.batch_id;
    // On a task of its own: a browser that leaves now must not take the files from under the import.
    let handing_over = async move {
        let mut db = app.db.acquire().await?;
        arriving.enqueue(&mut db, by.at(app.clock.now())).await?;
        app.notifier.notify();
        Ok::<_, sqlx::Error>(())
    };
    tokio::spawn(handing_over).await.map_err(anyhow::Error::from)??;
    Ok(respond::see_other(paths::Batch { batch }))
}

/// What files of people are held to.
pub(super) async fn limits(app: &App) -> Result<UploadLimits> {
    Ok(jobs::upload_limits(&mut *app.db.acquire().await?).await?)
}

/// Everything that was sent. An error, or whoever sends being gone, takes along what had arrived.
pub async fn receive(app: &App, mut upload: Upload) -> Result<Arriving> {
    let mut arriving = app.inbox.open(Uuid::new_v4())?.within(limits(app).await?);
    match write_files(&mut arriving, &mut upload).await {
        Ok(()) => Ok(arriving),
        Err(error) => {
            drop(arriving);
            // A browser hears the answer only after it has sent everything.
            if matches!(
                error,
                Error::FileTooLarge(_) | Error::NoRoom(_) | Error::DiskFull | Error::Internal(_)
            ) {
                while let Ok(Some(_)) = upload.next_field().await {}
            }
            Err(error)
        }
    }
}

async fn write_files(arriving: &mut Arriving, upload: &mut Upload) -> Result<()> {
    while let Some(mut field) = upload.next_field().await? {
        // A file field in which nothing was chosen sends a file without a name.
        let Some(name) = field.file_name().filter(|name| !name.is_empty()).map(str::to_owned) else {
            if field.name() == Some(REVIEW) {
                arriving.review_first();
            }
            continue;
        };
        let mut file = arriving.file(&name)?;
        while let Some(chunk) = field.chunk().await.map_err(|error| Upload::broken_off(&error))? {
            file.write(&chunk).await?;
        }
        file.finish().await?;
    }
    Ok(())
}

/// The field of who wants to look at what they send before it is published.
pub(super) const REVIEW: &str = "review";

/// What is said where no file was sent.
pub(super) const NO_FILE: &str = "Choose at least one billing export.";

async fn no_file(layout: Layout, person: &Person, app: &App) -> Result {
    let mut fields = Fields::default();
    fields.refuse("files", NO_FILE);
    let mut db = app.db.acquire().await?;
    let (uploads, now) = (app.uploads.of(person.user_id).all()?, app.clock.now());
    respond::refused(Page::find(layout, &mut db, &HistoryQuery::default(), (fields, uploads), now).await?)
}
