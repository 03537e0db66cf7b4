-- Every publish, undo and change of rates advanced the ledger by one, and nothing else did.
select
    'ledger' as of,
    (select sequence from ledger)::numeric as left_side,
    (select count(*) from ledger_log)::numeric as right_side
