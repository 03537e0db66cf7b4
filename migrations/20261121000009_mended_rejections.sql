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

-- Which rejected rows are mended as of a sequence of the ledger, and by which delivery that counts then. One that mends a
-- row that mends mends both; one whose mended row was rejected again is as missing as it was.
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
    left join rejections r on r.delivery_id = m.delivery_id and r.file_no = m.file_no and r.row_no = m.row_no
    where v.from_sequence <= as_of and (v.until_sequence is null or v.until_sequence > as_of)
      and r.delivery_id is null
$$;

-- The definition of *rejected rows that are missing*, in one place: of each delivery that has any, as of a sequence,
-- its rejected rows without those that are mended and without those that stand for another's, since each is missing
-- once, from where it was missing first. Whether the delivery itself counts is for the reader to ask.
create function missing_rows(as_of bigint)
returns table (delivery_id bigint, missing bigint)
language sql stable
as $$
    select d.delivery_id, d.rejected - coalesce(elsewhere.number, 0)
    from deliveries d
    left join (
        select rows.delivery_id, count(*) as number
        from (
            select m.delivery_id, m.file_no, m.row_no from mended_rows(as_of) m
            union
            select r.delivery_id, r.file_no, r.row_no
            from rejections r
            join mended_rejections m on m.delivery_id = r.delivery_id and m.file_no = r.file_no and m.row_no = r.row_no
        ) rows
        group by 1
    ) elsewhere on elsewhere.delivery_id = d.delivery_id
    where d.rejected > coalesce(elsewhere.number, 0)
$$;
