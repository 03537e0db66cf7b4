//! `/imports/uploads`: files that a page sends piece by piece, so that they resume after a lost connection, and `POST
//! /imports/uploads/import`, which makes one batch of those that have arrived.
//!
//! Pieces are named as by the draft "Resumable Uploads for HTTP" of the IETF (draft-ietf-httpbis-resumable-upload): `PATCH`
//! appends one where `Upload-Offset` says, `DELETE` cancels, and every answer says in `Upload-Offset` what has arrived and in
//! `Upload-Length` how long the file is. Unlike there, who has lost the connection asks as they began: the same file is the same
//! upload, also after the page was closed.

use axum::body::{Body, BodyDataStream, Bytes};
use axum::http::{HeaderMap, HeaderName, StatusCode, header};
use axum::response::{IntoResponse, Response};
use futures_util::StreamExt as _;
use serde::Deserialize;
use uuid::Uuid;

use super::receive;
use crate::accounts::Person;
use crate::jobs::{Appended, SentFile, Upload, UploadLimits};
use crate::web::error::{Error, Result};
use crate::web::extract::{Form, Pairs, Sending};
use crate::web::{App, paths};

const OFFSET: HeaderName = HeaderName::from_static("upload-offset");
const LENGTH: HeaderName = HeaderName::from_static("upload-length");

/// A file as the browser describes it before it sends any of it.
#[derive(Deserialize)]
pub struct FileForm {
    name: String,
    size: u64,
    modified: i64,
}

/// Begins an upload, or finds the one that was begun.
pub async fn begin(_: paths::Uploads, sending: Sending, Form(form): Form<FileForm>) -> Result {
    let Sending { person, app, .. } = sending;
    let limits = receive::limits(&app).await?;
    let file = SentFile { name: form.name, size: form.size, modified: form.modified };
    let upload = app.uploads.of(person.user_id).begin(file, &limits)?;
    let location = (header::LOCATION, paths::Upload { upload: upload.id }.to_string());
    Ok(([location], progress(StatusCode::CREATED, &upload, upload.arrived)).into_response())
}

/// A piece: it is written as it arrives, and what arrived before it broke off stays.
pub async fn append(path: paths::Upload, sending: Sending, headers: HeaderMap, body: Body) -> Result {
    let Sending { person, app, .. } = sending;
    let upload = find(&app, &person, path.upload)?;
    let offset = headers.get(OFFSET).and_then(|offset| offset.to_str().ok()?.parse().ok());
    let offset = offset.ok_or_else(|| {
        Error::BadRequest("Say in the header Upload-Offset where the piece begins.".to_owned())
    })?;
    let limits = receive::limits(&app).await?;
    let mut parts = body.into_data_stream();
    let appended = write(&upload, offset, &limits, &mut parts).await;
    upload.sync().await?;
    // A browser hears the answer only after it has sent everything.
    while let Some(Ok(_)) = parts.next().await {}
    match appended? {
        Appended::To(offset) => Ok(progress(StatusCode::NO_CONTENT, &upload, offset)),
        Appended::Elsewhere(offset) => Ok(progress(StatusCode::CONFLICT, &upload, offset)),
        Appended::TooLong => {
            let name = &upload.file.name;
            Err(Error::BadRequest(format!("{name} has become larger since it was chosen. Choose it again.")))
        }
        Appended::Gone => Err(Error::NotFound),
    }
}

async fn write(
    upload: &Upload,
    offset: u64,
    limits: &UploadLimits,
    parts: &mut BodyDataStream,
) -> Result<Appended> {
    let mut appended = upload.append(offset, Bytes::new(), limits).await?;
    while let Appended::To(offset) = appended
        && let Some(part) = parts.next().await
    {
        let part = part.map_err(|_| Error::BadRequest("The upload was interrupted.".to_owned()))?;
        appended = upload.append(offset, part, limits).await?;
    }
    Ok(appended)
}

pub async fn cancel(path: paths::Upload, sending: Sending) -> Result {
    let Sending { person, app, .. } = sending;
    find(&app, &person, path.upload)?.remove()?;
    Ok(StatusCode::NO_CONTENT.into_response())
}

/// Hands files that have arrived to the queue, as one batch.
pub async fn import(_: paths::UploadsImport, sending: Sending, Form(pairs): Form<Pairs>) -> Result {
    let Sending { person, by, app, .. } = sending;
    let mut arriving = app.inbox.open(Uuid::new_v4())?;
    for (_, id) in pairs.iter().filter(|(name, _)| name == "upload") {
        let upload = find(&app, &person, id.parse().map_err(|_| Error::NotFound)?)?;
        if !upload.is_whole() {
            return Err(Error::BadRequest(format!("{} has not arrived yet.", upload.file.name)));
        }
        arriving.take(&upload.file.name, &upload.content())?;
    }
    if arriving.is_empty() {
        return Err(Error::BadRequest(receive::NO_FILE.to_owned()));
    }
    if pairs.iter().any(|(name, _)| name == receive::REVIEW) {
        arriving.review_first();
    }
    receive::hand_over(app, by, arriving).await
}

fn find(app: &App, person: &Person, id: Uuid) -> Result<Upload> {
    app.uploads.of(person.user_id).find(id)?.ok_or(Error::NotFound)
}

fn progress(status: StatusCode, upload: &Upload, arrived: u64) -> Response {
    let headers = [(OFFSET, arrived.to_string()), (LENGTH, upload.file.size.to_string())];
    (status, headers).into_response()
}
