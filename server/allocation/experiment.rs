//! What people do to an experiment: rename, assign, merge into another. Pure: edits of the configuration, in which what is new
//! has the number 0.

use super::configuration::{Configuration, Edit};
use super::entry::{Entry, Experiment};
use super::label::normalized;

impl Configuration {
    /// The experiment that a label means where it is none of its own: another spelling of it, or its name.
    pub fn experiment_called(&self, label: &str) -> Option<&str> {
        let label = normalized(label);
        let experiments = || self.experiments().map(|(_, it)| it);
        if experiments().any(|it| it.handle == label) {
            return None;
        }
        let calls =
            |it: &&Experiment| it.spellings.iter().chain([&it.name]).any(|text| normalized(text) == label);
        experiments().filter(calls).max_by_key(|it| it.months.first).map(|it| it.handle.as_str())
    }

    /// What is written of an experiment, the latest where that changes in the course of time.
    pub fn experiment(&self, handle: &str) -> Option<&Experiment> {
        let found = self.experiments().map(|(_, it)| it).filter(|it| it.handle == handle);
        found.max_by_key(|it| it.months.first)
    }

    fn experiments(&self) -> impl Iterator<Item = (i64, &Experiment)> {
        self.entries.iter().filter_map(|(id, entry)| match entry {
            Entry::Experiment(it) => Some((*id, it)),
            _ => None,
        })
    }

    /// An experiment with this name, team and project from now on: in its latest entry, else in a new one.
    pub fn with_experiment(
        &self,
        handle: &str,
        name: &str,
        team: Option<String>,
        project: Option<String>,
    ) -> Edit {
        let latest =
            self.experiments().filter(|(_, it)| it.handle == handle).max_by_key(|(_, it)| it.months.first);
        let (id, before) = match latest {
            Some((id, it)) => (id, Some(it.clone())),
            None => (0, None),
        };
        let of = before
            .clone()
            .unwrap_or_else(|| Experiment { handle: handle.to_owned(), ..Experiment::default() });
        let after = Experiment { name: name.to_owned(), team, project, ..of };
        Edit { id, before: before.map(Entry::Experiment), after: Some(Entry::Experiment(after)) }
    }

    /// One experiment as another spelling of a second: everything that is called like the first means the second. What was
    /// written of the first is gone, but for what the second has none of.
    pub fn with_experiments_merged(&self, from: &str, into: &str) -> Vec<Edit> {
        let into_handle = self.experiment_called(into).map_or_else(|| normalized(into), str::to_owned);
        let mut spellings = vec![from.to_owned()];
        let mut edits = Vec::new();
        // Whose it is holds for the second where that is unallocated, and where it was the same in all months.
        let mut written = self.experiments().filter(|(_, it)| it.handle == from).map(|(_, it)| it);
        let known = written.next().filter(|_| written.next().is_none()).cloned().unwrap_or_default();
        let own_name = Some(known.name).filter(|name| !name.is_empty() && normalized(name) != from);
        let is_unnamed = |it: &Experiment| it.name.is_empty() || normalized(&it.name) == it.handle;
        for (id, it) in self.experiments().filter(|(_, it)| it.handle == from) {
            for spelling in it.spellings.iter().chain([&it.name]) {
                if !spellings.iter().any(|known| normalized(known) == normalized(spelling)) {
                    spellings.push(spelling.clone());
                }
            }
            edits.push(Edit { id, before: Some(Entry::Experiment(it.clone())), after: None });
        }
        let mut is_there = false;
        for (id, it) in self.experiments().filter(|(_, it)| it.handle == into_handle) {
            is_there = true;
            let mut after = it.clone();
            if let Some(name) = own_name.as_ref().filter(|_| is_unnamed(it)) {
                after.name.clone_from(name);
            }
            if it.project.is_none() && it.team.is_none() {
                after.project.clone_from(&known.project);
                after.team.clone_from(&known.team);
            }
            let is_new =
                |text: &&String| !it.spellings.iter().any(|known| normalized(known) == normalized(text));
            after.spellings.extend(spellings.iter().filter(is_new).cloned());
            let (before, after) = (Some(Entry::Experiment(it.clone())), Some(Entry::Experiment(after)));
            edits.push(Edit { id, before, after });
        }
        if !is_there {
            let name = own_name.unwrap_or_else(|| into.trim().to_owned());
            let (project, team) = (known.project, known.team);
            let handle = into_handle;
            let after = Experiment { handle, name, spellings, project, team, ..Experiment::default() };
            edits.push(Edit { id: 0, before: None, after: Some(Entry::Experiment(after)) });
        }
        edits
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::changes::Document as _;

    fn experiment(handle: &str, name: &str, spellings: &[&str]) -> Entry {
        let spellings = spellings.iter().map(|it| (*it).to_owned()).collect();
        Entry::Experiment(Experiment {
            handle: handle.into(),
            name: name.into(),
            spellings,
            ..Experiment::default()
        })
    }

    fn configuration() -> Configuration {
        let entries =
            [experiment("seg-1", "First", &["seg one"]), experiment("seg-2", "Second", &["SEG-II"])];
        Configuration { entries: (1..).zip(entries).collect() }
    }

    #[test]
    fn a_merged_experiment_hands_on_everything_that_it_was_called() {
        let configuration = configuration();
        let edits = configuration.with_experiments_merged("seg-1", "Seg-2");
        let merged = configuration.edited(&edits);
        assert_eq!(merged.entries.len(), 1);
        assert_eq!(
            merged.entries[&2],
            experiment("seg-2", "Second", &["SEG-II", "seg-1", "seg one", "First"])
        );
        for label in ["seg-1", "First", "seg one", "seg-ii", "second"] {
            assert_eq!(merged.experiment_called(label), Some("seg-2"), "{label}");
        }
        assert_eq!((merged.experiment_called("seg-2"), merged.experiment_called("other")), (None, None));
        // One that nothing was written of gets an entry; another spelling of one leads to that.
        let edits = configuration.with_experiments_merged("exp-9", "Exp-10");
        assert_eq!(edits[0].after, Some(experiment("exp-10", "Exp-10", &["exp-9"])));
        assert_eq!(configuration.with_experiments_merged("exp-9", "seg-ii")[0].id, 2);
    }

    #[test]
    fn what_was_written_of_a_merged_experiment_holds_where_nothing_is_written_of_the_other() {
        let of = |handle: &str, name: &str, project: Option<&str>| {
            let (handle, name) = (handle.to_owned(), name.to_owned());
            let project = project.map(str::to_owned);
            Entry::Experiment(Experiment { handle, name, project, ..Experiment::default() })
        };
        let written = |edits: &[Edit]| match &edits[edits.len() - 1].after {
            Some(Entry::Experiment(it)) => (it.name.clone(), it.project.clone()),
            other => panic!("{other:?}"),
        };
        let first = of("seg-1", "Segments", Some("apollo"));
        let kept = ("Segments".to_owned(), Some("apollo".to_owned()));
        for (other, expected) in [
            (None, kept.clone()),
            (Some(of("seg-2", "Seg-2", None)), kept.clone()),
            (Some(of("seg-2", "Second", None)), ("Second".to_owned(), kept.1.clone())),
            (Some(of("seg-2", "Second", Some("gemini"))), ("Second".to_owned(), Some("gemini".to_owned()))),
        ] {
            let entries = [(1, first.clone())].into_iter().chain(other.map(|it| (2, it))).collect();
            assert_eq!(
                written(&Configuration { entries }.with_experiments_merged("seg-1", "seg-2")),
                expected
            );
        }
    }

    #[test]
    fn an_experiment_is_renamed_where_it_stands_or_gets_an_entry() {
        let configuration = configuration();
        let edit = configuration.with_experiment("seg-1", "Old", Some("vision".into()), None);
        assert_eq!(edit.id, 1);
        let Some(Entry::Experiment(it)) = edit.after else { panic!() };
        assert_eq!((it.name.as_str(), it.team.as_deref(), it.spellings.len()), ("Old", Some("vision"), 1));
        assert_eq!(
            configuration.with_experiment("exp-9", "Nine", None, None).after,
            Some(experiment("exp-9", "Nine", &[]))
        );
    }
}
