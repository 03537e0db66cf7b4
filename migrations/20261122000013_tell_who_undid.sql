-- Why a change was drafted, since when it is proposed to whoever decides, and who undid it, when and why.
alter table allocation_changes
    add column draft_reason text,
    -- Null: somebody looks at what it would move.
    add column proposed_at timestamptz,
    add column undone_at timestamptz,
    add column undone_by text,
    add column undo_reason text;

update allocation_changes c
set undone_at = l.happened_at, undone_by = l.happened_by
from ledger_log l
where l.sequence = c.undone_sequence;
