-- Pages that were rendered are kept until somebody writes something that pages show. Signing in is none of that: without
-- an index of its own, a morning of sign-ins would hide the line before them.
do $$ begin
    execute 'create index audit_log_data_idx on audit_log (audit_id) where verb not like ''sign\_in.%''';
end $$;
