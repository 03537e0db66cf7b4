-- A price of a scenario says by a path how it is expected to move; it said by which share it changes in a year. -0.2, a
-- fifth less, is a decline by 0.2. In JSON a quotation mark inside a text has a backslash before it, so that no note or name
-- is taken for a price.
update scenario_versions
set content = regexp_replace(
        regexp_replace(
            regexp_replace(
                content::text,
                '"yearly_change": "-?0(\.0*)?"',
                '"path": {"by": "flat"}',
                'g'
            ),
            '"yearly_change": "-([0-9.]+)"',
            '"path": {"by": "decline", "yearly": "\1"}',
            'g'
        ),
        '"yearly_change": "([0-9.]+)"',
        '"path": {"by": "decline", "yearly": "-\1"}',
        'g'
    )::jsonb
where content::text like '%"yearly_change": "%';
