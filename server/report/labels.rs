//! What the tags of a period say for a label: every spelling with the money behind it, what it means, and what it looks
//! like where it means nothing.

use serde::Serialize;
use sqlx::PgConnection;

use super::{Answers, Error, Grouping, Question};
use crate::accounts::Viewer;
use crate::allocation::{
    Facts, Label, MonthConfiguration, RuleEngine, are_similar, normalized, normalized_key,
};
use crate::exchange;
use crate::money::{Currency, Decimal};
use crate::period::BillingMonth;

/// Tags that are looked at.
const TAGS: usize = 500;
/// What a spelling may look like, at most so many.
const SIMILAR: usize = 3;

/// The spellings of a label in a month.
#[derive(Clone, Debug, Serialize)]
pub struct Spellings {
    pub month: BillingMonth,
    pub currency: Option<Currency>,
    /// The tags that were read, as charges have them.
    pub tags: Vec<String>,
    /// Tags of the label that deliveries keep with their charges and not with the key, where rules do not see them.
    pub unseen_tags: Vec<String>,
    /// The largest first.
    pub lines: Vec<Spelling>,
    /// Effective cost of what has none of the tags.
    pub without: Decimal,
}

/// What is one when it is compared: `Vision`, `vision ` and `VISION`.
#[derive(Clone, Debug, Serialize)]
pub struct Spelling {
    /// As it is compared.
    pub text: String,
    /// As charges have it, the largest first, with the tag.
    pub written: Vec<Written>,
    /// What it means: a handle, or the value that is meant; null where nobody said.
    pub means: Option<String>,
    /// What there is, or what has more money behind it, that it may be a slip of.
    pub looks_like: Vec<String>,
    pub cost: Decimal,
    pub accelerator_hours: Decimal,
    pub owned_hours: Decimal,
}

#[derive(Clone, Debug, Serialize)]
pub struct Written {
    pub tag: String,
    pub value: String,
}

/// Looks at the spellings of a label in a month, as the ledger stands now.
pub async fn spellings(
    db: &mut PgConnection,
    answers: &Answers,
    configuration: &MonthConfiguration<'_>,
    label: Label,
) -> Result<Spellings, Error> {
    let month = configuration.month;
    let convert_into = exchange::reporting_currency(&mut *db).await?;
    let question = Question { convert_into, ..Question::of(month.into(), Viewer::Everything) };
    let sequence = crate::ledger::sequence(&mut *db).await?;
    let keys = configuration.keys_of(label);
    let names = answers.tag_names(db, month.into(), &Viewer::Everything, sequence, TAGS).await?;
    let mut found = Spellings {
        month,
        currency: None,
        tags: names.into_iter().filter(|name| keys.contains(&normalized_key(name))).collect(),
        unseen_tags: unseen_tags(db, month, &keys).await?,
        lines: Vec::new(),
        without: Decimal::ZERO,
    };
    let all = answers.spend(db, &question).await?;
    found.currency.clone_from(&all.currency);
    // A pattern that is none is refused before it is kept.
    let attributor = RuleEngine::new(configuration).map_err(|error| sqlx::Error::Decode(error.into()))?;
    for tag in found.tags.clone() {
        let by_tag = Question { by: Grouping::Tag(tag.clone()), ..question.clone() };
        let spend = answers.spend(db, &by_tag).await?;
        for group in spend.groups {
            let Some(value) = group.key else { continue };
            let text = normalized(&value);
            let means = means(&attributor, label, &tag, &value);
            let written = Written { tag: tag.clone(), value };
            match found.lines.iter_mut().find(|line| line.text == text) {
                Some(line) => {
                    line.written.push(written);
                    line.cost += group.cost.amount;
                    line.accelerator_hours += group.accelerator_hours;
                    line.owned_hours += group.owned_hours;
                }
                None => found.lines.push(Spelling {
                    text,
                    written: vec![written],
                    means,
                    looks_like: Vec::new(),
                    cost: group.cost.amount,
                    accelerator_hours: group.accelerator_hours,
                    owned_hours: group.owned_hours,
                }),
            }
        }
    }
    found.lines.sort_by(|a, b| b.cost.cmp(&a.cost).then_with(|| a.text.cmp(&b.text)));
    let labelled: Decimal = found.lines.iter().map(|line| line.cost).sum();
    found.without = all.total.map(|total| total.amount).unwrap_or_default() - labelled;
    let known = known(configuration, label);
    for at in 0..found.lines.len() {
        let looks_like = found.lines[at].similar(&known, &found.lines[..at], label);
        found.lines[at].looks_like = looks_like;
    }
    Ok(found)
}

impl Spelling {
    /// What it may be a slip of: what there is, and what is larger.
    fn similar(&self, known: &[String], larger: &[Self], label: Label) -> Vec<String> {
        if self.means.is_some() && !needs_no_entry(label) {
            return Vec::new();
        }
        let itself = self.means.as_ref().unwrap_or(&self.text);
        let others = larger.iter().map(|line| line.means.as_ref().unwrap_or(&line.text));
        let mut similar: Vec<String> = Vec::new();
        for candidate in known.iter().chain(others) {
            if candidate != itself && are_similar(candidate, &self.text) && !similar.contains(candidate) {
                similar.push(candidate.clone());
            }
        }
        similar.truncate(SIMILAR);
        similar
    }
}

/// Whether any value of a label stands for itself.
pub fn needs_no_entry(label: Label) -> bool {
    !matches!(label, Label::Team | Label::Project | Label::CostCentre)
}

fn means(attributor: &RuleEngine<'_>, label: Label, tag: &str, value: &str) -> Option<String> {
    let facts = Facts { tags: vec![(normalized_key(tag), value.to_owned())], ..Facts::default() };
    let text = attributor.labels(&facts).get(label).to_owned();
    Some(text).filter(|text| !text.is_empty())
}

/// Handles and names that spellings can be slips of.
fn known(configuration: &MonthConfiguration<'_>, label: Label) -> Vec<String> {
    match label {
        Label::Team => configuration.teams.iter().map(|it| it.handle.clone()).collect(),
        Label::Project => configuration.projects.iter().map(|it| it.handle.clone()).collect(),
        Label::CostCentre => configuration.cost_centres.iter().map(|it| it.handle.clone()).collect(),
        Label::Experiment => configuration.experiments.iter().map(|it| it.handle.clone()).collect(),
        _ => {
            let own =
                configuration.values.iter().filter(|it| it.label == label).map(|it| normalized(&it.value));
            own.chain(label.usual_values().iter().map(|(value, _)| (*value).to_owned())).collect()
        }
    }
}

/// Tags of a label that have too many values for the key in an active delivery.
async fn unseen_tags(
    db: &mut PgConnection,
    month: BillingMonth,
    keys: &[String],
) -> sqlx::Result<Vec<String>> {
    let noisy = sqlx::query_scalar!(
        r#"select distinct tag as "tag!"
           from deliveries d
           join visibility v on v.delivery_id = d.delivery_id and v.until_sequence is null
           join scopes s using (scope_id)
           cross join unnest(d.noisy_tags) tag
           where s.billing_month = $1
           order by 1"#,
        month.first_day(),
    )
    .fetch_all(db)
    .await?;
    Ok(noisy.into_iter().filter(|tag| keys.contains(&normalized_key(tag))).collect())
}
