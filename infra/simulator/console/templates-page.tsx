import { useMemo, useState } from 'preact/hooks';
import { control } from './api.ts';
import { Icon } from './icons.tsx';
import { counters } from './live.ts';
import type { TemplateDetail, TemplateRow } from './model.ts';
import { Action, Badge, Empty, Json, Problem, useAnswer } from './parts.tsx';
import { Bubble } from './phone.tsx';
import { phoneView } from './phone-view.ts';
import { choose, place } from './router.ts';
import { useStore } from './store.ts';
import { counted, wordOf } from './texts.ts';
import { VirtualList } from './virtual-list.tsx';

const keyOf = (row: TemplateRow) => row.id;
const none: readonly TemplateRow[] = [];

/** Every template as the platform has it, and what a reviewer does with one. */
export function TemplatesPage() {
  const told = useStore(counters);
  const { id } = useStore(place);
  const [query, setQuery] = useState('');
  const [status, setStatus] = useState('');
  const { value, problem } = useAnswer(
    () => control<{ readonly data: readonly TemplateRow[] }>('templates'),
    `${told?.resets} ${told?.templates}`,
  );
  const rows = value?.data ?? none;
  const statuses = useMemo(() => [...new Set(rows.map((row) => row.status))].sort(), [rows]);
  const found = useMemo(() => {
    const wanted = query.trim().toLowerCase();
    return rows.filter(
      (row) =>
        (status === '' || row.status === status) &&
        `${row.name} ${row.language} ${row.category} ${row.id}`.toLowerCase().includes(wanted),
    );
  }, [rows, query, status]);
  return (
    <div class={`page split ${id === '' ? '' : 'chosen'}`}>
      <section class="pane-list" aria-label="Templates">
        <div class="filters">
          <label class="search">
            <Icon name="search" />
            <span class="hidden">Search name, language or category</span>
            <input
              type="search"
              placeholder="Name or language"
              value={query}
              onInput={({ currentTarget }) => setQuery(currentTarget.value)}
            />
          </label>
          <label class="choice">
            <span class="hidden">Status</span>
            <select value={status} onChange={({ currentTarget }) => setStatus(currentTarget.value)}>
              <option value="">Every status</option>
              {statuses.map((each) => (
                <option key={each} value={each}>
                  {wordOf(each)}
                </option>
              ))}
            </select>
          </label>
        </div>
        <p class="count" role="status">
          {counted(found.length, 'template')}
        </p>
        <Problem text={problem} />
        {found.length > 0 ? (
          <VirtualList
            label="Templates"
            items={found}
            keyOf={keyOf}
            rowHeight={64}
            chosen={id}
            onChoose={(row) => choose('templates', row.id)}
            row={(row) => <Row row={row} />}
          />
        ) : (
          <Empty title={value === undefined ? 'Reading …' : 'No template is like that'} />
        )}
      </section>
      <section class="pane-main" aria-label="Template">
        {id === '' ? (
          <Empty title="Choose a template">
            <p>Its preview is filled in with its examples. You are the reviewer.</p>
          </Empty>
        ) : (
          <TemplatePane key={id} id={id} changes={`${told?.resets} ${told?.templates}`} />
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
  const { value, problem } = useAnswer(() => control<TemplateDetail>(path), `${id} ${changes}`);
  const back = (
    <button type="button" class="button back" onClick={() => choose('templates')}>
      <Icon name="back" /> All templates
    </button>
  );
  if (problem !== '') {
    return (
      <Empty title="This template is not here">
        <p>{problem}</p>
        {back}
      </Empty>
    );
  }
  if (value === undefined) return <Empty title="Reading …" />;
  return (
    <div class="message-pane">
      {back}
      <section class="phone" aria-label={`Preview of ${value.name}`}>
        <div class="chat">
          <Bubble view={phoneView(value.components, undefined)} />
        </div>
      </section>
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

/** What the platform may do with a template; the service hears of it by webhook. */
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
