//! Answers of long periods, remembered whole: what jobs held month by month is much, and is not.

use sqlx::PgConnection;

use super::{GpuJob, GpuJobs, JobDimension, JobGroup, JobsAsked, of_accelerators};
use crate::cache::SizeInCache;
use crate::report::cache::Remembered;
use crate::report::snapshot::Snapshot;
use crate::report::{Answers, Error, Grouping, Question, as_of};
use crate::telemetry::read;

/// What decides which jobs a long period has.
#[derive(PartialEq, Eq, Hash)]
struct LongKey {
    question: Question,
    snapshot: Snapshot,
    /// The last version that changed anything of usage: a job is described by imports of other months, too.
    usage: i64,
    machines: Vec<(i64, Option<String>, bool)>,
    only: Vec<(JobDimension, String)>,
    find: Option<String>,
    by: Option<JobDimension>,
    most: Option<usize>,
}

impl Remembered for LongKey {
    type Answer = GpuJobs;
}

impl SizeInCache for GpuJobs {
    fn size_in_cache(&self) -> usize {
        // Their texts are short, and many.
        let of_job = |it: &GpuJob| 2 * size_of_val(it) + 2 * size_of_val(&it.on_nodes[..]);
        let groups = self.groups.as_deref().unwrap_or_default();
        size_of_val(self)
            + self.jobs.iter().map(of_job).sum::<usize>()
            + 2 * groups.len() * size_of::<JobGroup>()
    }
}

impl Answers {
    pub(super) async fn remembered_gpu_jobs(
        &self,
        db: &mut PgConnection,
        question: &Question,
        asked: JobsAsked<'_>,
    ) -> Result<GpuJobs, Error> {
        let sequence = as_of::as_of(&mut *db, question.sequence).await?;
        let nodes = read::nodes(&mut *db, sequence).await?;
        // By something that the rules decide, so that they are part of what is active.
        let by_rules = question.by(Grouping::Project);
        let key = LongKey {
            question: by_rules.timeless(),
            snapshot: self.snapshot(&mut *db, &by_rules, sequence).await?,
            usage: read::version(&mut *db, sequence).await?,
            machines: nodes.iter().map(|it| (it.node_id, it.resource.clone(), it.names_holders)).collect(),
            only: asked.only.to_vec(),
            find: asked.find.map(str::to_owned),
            by: asked.by,
            most: asked.most,
        };
        let of_version = Question { sequence: Some(sequence), ..question.clone() };
        let find = Box::pin(self.find_gpu_jobs(&mut *db, &of_version, asked));
        let found = self.remember(key, find).await?;
        // How complete it is depends on bills of other months, too, and its version on all of them.
        let visible = self.spend(db, &of_accelerators(&of_version)).await?;
        let data_status = found.data_status.of_visible(&visible);
        Ok(GpuJobs { data_status, ..GpuJobs::clone(&found) })
    }
}
