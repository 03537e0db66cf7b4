-- Rows that stand for rejected rows of earlier deliveries: people took those away, mended them and loaded them. Written
-- with the load; they mend once their delivery counts, and no longer when it is undone.
create table mended_rejections (
    delivery_id bigint not null references deliveries on delete cascade,
    file_no smallint not null,
    row_no bigint not null,
    mends_delivery_id bigint not null,
    mends_file_no smallint not null,
    mends_row_no bigint not null,
    primary key (delivery_id, file_no, row_no),
    foreign key (mends_delivery_id, mends_file_no, mends_row_no) references rejections on delete cascade,
    check (mends_delivery_id < delivery_id)
);

create index mended_rejections_by_mended on mended_rejections (mends_delivery_id, mends_file_no, mends_row_no);

-- Which rejected rows are mended as of a sequence of the ledger, and by which delivery that counts then. A row that was
-- rejected again is missing from the delivery that mends, and one that mends that one mends both.
create function mended_rows(as_of bigint)
returns table (delivery_id bigint, file_no smallint, row_no bigint, by_delivery_id bigint)
language sql stable
as $$
    with recursive mending as (
        select m.mends_delivery_id, m.mends_file_no, m.mends_row_no, m.delivery_id, m.file_no, m.row_no
        from mended_rejections m
        union
        select e.mends_delivery_id, e.mends_file_no, e.mends_row_no, m.delivery_id, m.file_no, m.row_no
        from mending e
        join mended_rejections m
          on m.mends_delivery_id = e.delivery_id and m.mends_file_no = e.file_no and m.mends_row_no = e.row_no
    )
    select distinct m.mends_delivery_id, m.mends_file_no, m.mends_row_no, m.delivery_id
    from mending m
    join visibility v on v.delivery_id = m.delivery_id
    where v.from_sequence <= as_of and (v.until_sequence is null or v.until_sequence > as_of)
$$;

-- The definition of *rejected rows that are missing*, in one place: of each delivery that has any, as of a sequence,
-- its rejected rows without those that are mended. Whether the delivery itself counts is for the reader to ask.
create function missing_rows(as_of bigint)
returns table (delivery_id bigint, missing bigint)
language sql stable
as $$
    select d.delivery_id, d.rejected - coalesce(mended.number, 0)
    from deliveries d
    left join (
        select m.delivery_id, count(distinct (m.file_no, m.row_no)) as number
        from mended_rows(as_of) m
        group by 1
    ) mended on mended.delivery_id = d.delivery_id
    where d.rejected > coalesce(mended.number, 0)
$$;
