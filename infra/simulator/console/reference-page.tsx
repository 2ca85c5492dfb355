import { useMemo, useState } from 'preact/hooks';
import { call } from './api.ts';
import { Icon } from './icons.tsx';
import { type Document, type Operation, operationsOf, resolved, shapeOf } from './openapi.ts';
import { Empty, Json, useAnswer } from './parts.tsx';
import { addressOf, choose, place } from './router.ts';
import { SignIn } from './sign-in.tsx';
import { useStore } from './store.ts';
import { counted } from './texts.ts';
import { TryIt } from './try-it.tsx';

/** The service's own interface, from its OpenAPI document, to be tried against the local one. */
export function ReferencePage() {
  const { id } = useStore(place);
  const [query, setQuery] = useState('');
  const { value, problem } = useAnswer(() => call<Document | null>('GET', '/console/openapi.json'), 'once');
  const operations = useMemo(() => (value === undefined || value === null ? [] : operationsOf(value)), [value]);
  if (value === undefined || value === null) {
    const isReading = value === undefined && problem === '';
    return (
      <div class="page">
        <Empty title={isReading ? 'Reading …' : 'The interface is not described here'}>
          {isReading ? null : (
            <p>
              <code>functions/openapi.json</code> is not there. <code>functions/README.md</code> tells of every route.
            </p>
          )}
        </Empty>
      </div>
    );
  }
  const wanted = query.trim().toLowerCase();
  const found = operations.filter((each) =>
    `${each.method} ${each.path} ${each.summary} ${each.tags?.join(' ')}`.toLowerCase().includes(wanted),
  );
  const chosen = operations.find(({ operationId }) => operationId === id);
  return (
    <div class={`page split ${chosen === undefined ? '' : 'chosen'}`}>
      <section class="pane-list" aria-label="Routes">
        <div class="filters">
          <label class="search">
            <Icon name="search" />
            <span class="hidden">Search routes</span>
            <input
              type="search"
              placeholder="Path or what it does"
              value={query}
              onInput={({ currentTarget }) => setQuery(currentTarget.value)}
            />
          </label>
        </div>
        <p class="count" role="status">
          {counted(found.length, 'route')} · {value.info.title} {value.info.version}
        </p>
        <Routes operations={found} chosen={id} />
      </section>
      <section class="pane-main" aria-label="Route">
        {chosen === undefined ? (
          <Empty title="Choose a route">
            <p>{value.info.description}</p>
          </Empty>
        ) : (
          <Route key={chosen.operationId} document={value} operation={chosen} />
        )}
      </section>
    </div>
  );
}

function Routes({ operations, chosen }: { readonly operations: readonly Operation[]; readonly chosen: string }) {
  const tags = [...new Set(operations.map(({ tags: [tag = 'Other'] = [] }) => tag))];
  return (
    <nav class="routes" aria-label="Routes of the service">
      {tags.map((tag) => (
        <div key={tag}>
          <h2>{tag}</h2>
          <ul>
            {operations
              .filter(({ tags: [first = 'Other'] = [] }) => first === tag)
              .map(({ operationId, method, path, summary }) => (
                <li key={operationId}>
                  <a
                    href={addressOf('reference', operationId)}
                    aria-current={operationId === chosen ? 'true' : undefined}
                  >
                    <span>{summary ?? operationId}</span>
                    <small>
                      <b class="method">{method}</b> {path}
                    </small>
                  </a>
                </li>
              ))}
          </ul>
        </div>
      ))}
    </nav>
  );
}

function Route({ document, operation }: { readonly document: Document; readonly operation: Operation }) {
  const { method, path, summary, description, responses = {}, requestBody, security } = operation;
  const body = Object.values(requestBody?.content ?? {})[0]?.schema;
  return (
    <div class="exchange">
      <button type="button" class="button back" onClick={() => choose('reference')}>
        <Icon name="back" /> All routes
      </button>
      <h2>
        <b class="method">{method}</b> {path}
      </h2>
      <p class="route-what">
        <strong>{summary}.</strong> {description}
      </p>
      {security === undefined || security.length === 0 ? null : <SignIn />}
      <TryIt operation={operation} />
      {body === undefined ? null : (
        <details class="raw">
          <summary>What the body may hold</summary>
          <Json value={shapeOf(document, body)} label="Shape of the body" />
        </details>
      )}
      <h3>Answers</h3>
      <dl class="pairs answers">
        {Object.entries(responses).map(([status, answer]) => {
          const it = resolved(document, answer);
          const schema = Object.values(it.content ?? {})[0]?.schema;
          return (
            <div key={status}>
              <dt>{status}</dt>
              <dd>
                {it.description}
                {status.startsWith('2') && schema !== undefined ? (
                  <Json value={shapeOf(document, schema)} label={`Shape of the answer ${status}`} />
                ) : null}
              </dd>
            </div>
          );
        })}
      </dl>
    </div>
  );
}
