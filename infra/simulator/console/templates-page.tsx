import { useMemo, useState } from 'preact/hooks';
import { control } from './api.ts';
import { FilteredList } from './filtered-list.tsx';
import { Choice, Filters } from './filters.tsx';
import { counters } from './live.ts';
import type { TemplateDetail, TemplateRow } from './model.ts';
import { Action, BackButton, Badge, Empty, Failed, Json, Problem, useAnswer, Waiting } from './parts.tsx';
import { Bubble, Phone } from './phone.tsx';
import { phoneView } from './phone-view.ts';
import { addressOf, place } from './router.ts';
import { searched } from './search.ts';
import { useStore } from './store.ts';
import { wordOf } from './texts.ts';

const keyOf = (row: TemplateRow) => row.id;
const none: readonly TemplateRow[] = [];

export function TemplatesPage() {
  const told = useStore(counters);
  const { id, filter } = useStore(place);
  const { q = '', status = '' } = filter;
  const list = useAnswer(
    () => control<{ readonly data: readonly TemplateRow[] }>('templates'),
    `${told?.world} ${told?.templates}`,
  );
  const { value } = list;
  const rows = value?.data ?? none;
  const statuses = useMemo(() => [...new Set(rows.map((row) => row.status))].sort(), [rows]);
  const found = useMemo(() => {
    const hasWords = searched(q);
    return rows.filter(
      (row) =>
        (status === '' || row.status === status) && hasWords(`${row.name} ${row.language} ${row.category} ${row.id}`),
    );
  }, [rows, q, status]);
  return (
    <div class={`page split ${id === '' ? '' : 'chosen'}`}>
      <section class="pane-list" aria-label="Templates">
        <Filters label="Search name, language or category" hint="Name or language">
          <Choice
            name="status"
            label="Status"
            all="Every status"
            options={statuses.map((each) => [each, wordOf(each)] as const)}
          />
        </Filters>
        <FilteredList
          page="templates"
          noun="template"
          label="Templates"
          rows={value?.data}
          found={found}
          answer={list}
          keyOf={keyOf}
          rowHeight={64}
          chosen={id}
          row={(row) => <Row row={row} />}
          nothing="No templates yet"
        />
      </section>
      <section class="pane-main" aria-label="Template">
        {id === '' ? (
          <Empty title="Choose a template">
            <p>Its preview is filled in with its examples. You are the reviewer.</p>
          </Empty>
        ) : (
          <TemplatePane key={id} id={id} changes={`${told?.world} ${told?.templates}`} />
        )}
      </section>
    </div>
  );
}

function Row({ row }: { readonly row: TemplateRow }) {
  return (
    <>
      <span class="row-line">
        <strong>{row.name}</strong>
        <Badge value={row.status} />
      </span>
      <span class="row-line small">
        <span class="row-template">
          {row.language} · {wordOf(row.category)}
        </span>
        <span>{row.quality === 'UNKNOWN' ? '' : `Quality ${row.quality.toLowerCase()}`}</span>
      </span>
    </>
  );
}

function TemplatePane({ id, changes }: { readonly id: string; readonly changes: string }) {
  const path = `templates/${encodeURIComponent(id)}`;
  const { value, problem, again } = useAnswer(() => control<TemplateDetail>(path), `${id} ${changes}`);
  const back = <BackButton page="templates">All templates</BackButton>;
  if (problem !== '') {
    return (
      <Failed title="This template cannot be shown" problem={problem} onAgain={again}>
        {back}
      </Failed>
    );
  }
  if (value === undefined) return <Waiting />;
  return (
    <div class="message-pane">
      {back}
      <Phone label={`Preview of ${value.name}`} name={value.name} note="Preview, filled in with its examples">
        <Bubble view={phoneView(value.components, undefined)} />
      </Phone>
      <div class="facts">
        <h2>{value.name}</h2>
        <p class="badges">
          <Badge value={value.status} />
          {value.status === 'REJECTED' ? <span class="note">{wordOf(value.rejected_reason)}</span> : null}
          <span class="note">
            {value.language} · {wordOf(value.category)}
          </span>
        </p>
        <Review template={value} path={path} />
        <ul class="links">
          <li>
            <a href={addressOf('inbox', '', { q: value.name })}>Messages of it, on the phone</a>
          </li>
          <li>
            <a href={addressOf('dispatches', '', { template: value.name })}>Dispatches of it</a>
          </li>
          <li>
            <a href={addressOf('client-templates', '', { q: `${value.name} ${value.language}` })}>
              A client’s switch and assignments
            </a>
          </li>
        </ul>
        <details class="raw">
          <summary>As the platform has it</summary>
          <Json value={{ id: value.id, ...value.fields, components: value.components }} label="Template" />
        </details>
      </div>
    </div>
  );
}

const reasons = [
  'ABUSIVE_CONTENT',
  'INCORRECT_CATEGORY',
  'INVALID_FORMAT',
  'PROMOTIONAL',
  'SCAM',
  'TAG_CONTENT_MISMATCH',
];
const qualities = ['GREEN', 'YELLOW', 'RED', 'UNKNOWN'];

/** Offers acts of the platform, which the service hears by webhook; a client switches by its own page. */
function Review({ template, path }: { readonly template: TemplateDetail; readonly path: string }) {
  const [reason, setReason] = useState('PROMOTIONAL');
  const [problem, setProblem] = useState('');
  const change = (changes: object) => () => control(path, changes);
  const { status } = template;
  return (
    <div class="actions">
      <Problem text={problem} />
      <div class="action-line">
        <Action
          tone="main"
          disabled={status === 'APPROVED'}
          run={change({ status: 'APPROVED', rejected_reason: 'NONE' })}
          onProblem={setProblem}
        >
          Approve
        </Action>
        <Action disabled={status !== 'APPROVED'} run={() => control(`${path}/pause`, {})} onProblem={setProblem}>
          Pause
        </Action>
        <Action tone="bad" disabled={status === 'DISABLED'} run={change({ status: 'DISABLED' })} onProblem={setProblem}>
          Disable
        </Action>
      </div>
      <div class="action-line">
        <label class="grow">
          <span>Reason</span>
          <select value={reason} onChange={({ currentTarget }) => setReason(currentTarget.value)}>
            {reasons.map((each) => (
              <option key={each} value={each}>
                {wordOf(each)}
              </option>
            ))}
          </select>
        </label>
        <Action tone="bad" run={change({ status: 'REJECTED', rejected_reason: reason })} onProblem={setProblem}>
          Reject
        </Action>
      </div>
      <fieldset class="action-line">
        <legend>Quality</legend>
        {qualities.map((score) => (
          <Action
            key={score}
            tone={template.quality === score ? 'main' : 'plain'}
            run={change({ quality_score: { score } })}
            onProblem={setProblem}
          >
            {wordOf(score)}
          </Action>
        ))}
      </fieldset>
    </div>
  );
}
