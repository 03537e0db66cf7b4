//! What the address of a page of jobs asks.

use std::cmp::Reverse;

use super::By;
use crate::enum_words::{UnknownWord, words, written_as_str};
use crate::report::{GpuJobs, JobsAsked};
use crate::web::error::{Error, Result};

words! {
    #[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
    pub enum SortBy: as_str {
        #[default]
        Cost = "cost";
        Idle = "idle";
        Hours = "hours";
        Used = "used";
        Started = "started";
        Name = "name";
    }
}
written_as_str!(SortBy);

/// What is asked of jobs, beside what every page is asked.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct JobsQuery {
    pub by: By,
    pub sort: SortBy,
    pub is_reversed: bool,
    /// Only jobs with these; each dimension with its value.
    pub only: Vec<(By, String)>,
}

impl JobsQuery {
    /// Takes what is its own out of the pairs of an address.
    pub fn take(pairs: &mut Vec<(String, String)>) -> Result<Self> {
        let mut query = Self::default();
        let refused = |name: &str, error: &UnknownWord| {
            Error::BadRequest(format!("{name}: use {}.", error.expected.join(", ")))
        };
        let mut rest = Vec::new();
        for (name, value) in std::mem::take(pairs) {
            match name.as_str() {
                "by" => query.by = value.parse().map_err(|error| refused("by", &error))?,
                "sort" => {
                    let word = value.strip_prefix('-');
                    query.is_reversed = word.is_some();
                    query.sort = word.unwrap_or(&value).parse().map_err(|error| refused("sort", &error))?;
                }
                _ => match name.parse::<By>() {
                    Ok(by) if by != By::Job => query.only.push((by, value)),
                    _ => rest.push((name, value)),
                },
            }
        }
        *pairs = rest;
        Ok(query)
    }

    pub fn pairs(&self) -> Vec<(String, String)> {
        let mut pairs = Vec::new();
        if self.by != By::default() {
            pairs.push(("by".to_owned(), self.by.to_string()));
        }
        if self.sort != SortBy::default() || self.is_reversed {
            let sign = if self.is_reversed { "-" } else { "" };
            pairs.push(("sort".to_owned(), format!("{sign}{}", self.sort)));
        }
        pairs.extend(self.only.iter().map(|(by, value)| (by.to_string(), value.clone())));
        pairs
    }

    /// What is asked of the ledger.
    pub fn jobs<'a>(&'a self, find: Option<&'a str>, most: Option<usize>) -> JobsAsked<'a> {
        let by = Some(self.by).filter(|by| *by != By::Job);
        JobsAsked { only: &self.only, find, by, most }
    }

    /// Sorts what comes by cost as it is asked for: what is equal stays by cost.
    pub fn sort(&self, it: &mut GpuJobs) {
        let jobs = &mut it.jobs;
        match self.sort {
            SortBy::Cost => {}
            SortBy::Idle => jobs.sort_by_key(|it| Reverse(it.idle_cost)),
            SortBy::Hours => jobs.sort_by_key(|it| Reverse(it.accelerator_hours)),
            SortBy::Used => jobs.sort_by_key(|it| Reverse(it.utilization)),
            SortBy::Started => jobs.sort_by_key(|it| Reverse(it.job.started_at)),
            SortBy::Name => jobs.sort_by(|a, b| a.job.name.cmp(&b.job.name)),
        }
        let groups = it.groups.as_mut().map_or(&mut [][..], |groups| groups);
        match self.sort {
            SortBy::Cost | SortBy::Started => {}
            SortBy::Idle => groups.sort_by_key(|it| Reverse(it.sums.idle_cost)),
            SortBy::Hours => groups.sort_by_key(|it| Reverse(it.sums.accelerator_hours)),
            SortBy::Used => groups.sort_by_key(|it| Reverse(it.utilization)),
            SortBy::Name => groups.sort_by(|a, b| a.label.cmp(&b.label)),
        }
        if self.is_reversed {
            jobs.reverse();
            groups.reverse();
        }
    }
}
