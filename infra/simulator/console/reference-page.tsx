import { useMemo } from 'preact/hooks';
import { call } from './api.ts';
import { Filters } from './filters.tsx';
import { Icon } from './icons.tsx';
import { type Document, type Operation, operationsOf, refusalsOf, searchTextOf } from './openapi.ts';
import { Empty, Failed, useAnswer, Waiting } from './parts.tsx';
import { Refusals } from './reference-answers.tsx';
import { Event, Route } from './reference-route.tsx';
import { addressOf, choose, place } from './router.ts';
import { SignIn } from './sign-in.tsx';
import { useStore } from './store.ts';
import { counted } from './texts.ts';

/** Shows the service's interface from its OpenAPI document, with a form for each route. */
export function ReferencePage() {
  const { value, problem, again } = useAnswer(() => call<Document | null>('GET', '/console/openapi.json'), 'once');
  if (value !== undefined && value !== null) return <Reference document={value} />;
  return (
    <div class="page">
      {value === null ? (
        <NotDescribed />
      ) : problem === '' ? (
        <Waiting />
      ) : (
        <Failed title="The interface could not be read" problem={problem} onAgain={again} />
      )}
    </div>
  );
}

function NotDescribed() {
  return (
    <Empty title="The interface is not described here">
      <p>
        The service has not told its OpenAPI document yet (<code>POST /_control/service</code>).
      </p>
    </Empty>
  );
}

function Reference({ document }: { readonly document: Document }) {
  const { id, filter } = useStore(place);
  const { q: query = '' } = filter;
  const all = useMemo(
    () => operationsOf(document).map((each) => ({ operation: each, text: searchTextOf(document, each) })),
    [document],
  );
  // The query matches as a phrase, as in "send a template".
  const wanted = query.trim().toLowerCase();
  const found = all.filter(({ text }) => text.includes(wanted)).map(({ operation }) => operation);
  const chosen = all.find(({ operation }) => operation.operationId === id)?.operation;
  const routes = found.filter(({ kind }) => kind === 'route');
  return (
    <div class={`page split ${chosen === undefined ? '' : 'chosen'}`}>
      <section class="pane-list" aria-label="Routes and events">
        <Filters
          label="Search routes and events"
          hint="Path, words, field or code"
          title="Words as they stand together"
        />
        <p class="count" role="status">
          {counted(routes.length, 'route')}, {counted(found.length - routes.length, 'event')}
        </p>
        {found.length === 0 ? (
          <Empty title="No route and no event is like that" />
        ) : (
          <Routes operations={found} chosen={id} query={query} />
        )}
      </section>
      <section class="pane-main" aria-label="Route">
        {chosen === undefined ? (
          <Overview document={document} />
        ) : (
          <div class="exchange reference" key={chosen.operationId}>
            <button type="button" class="button back" onClick={() => choose('reference')}>
              <Icon name="back" /> All routes
            </button>
            {chosen.kind === 'event' ? (
              <Event document={document} operation={chosen} />
            ) : (
              <Route document={document} operation={chosen} />
            )}
          </div>
        )}
      </section>
    </div>
  );
}

function groupOf({ kind, tags: [tag = 'Other'] = [] }: Operation): string {
  return kind === 'event' ? 'Events' : tag;
}

interface RoutesProps {
  readonly operations: readonly Operation[];
  readonly chosen: string;
  readonly query: string;
}

function Routes({ operations, chosen, query }: RoutesProps) {
  return (
    <nav class="routes" aria-label="Routes and events of the service">
      {[...new Set(operations.map(groupOf))].map((group) => (
        <div key={group}>
          <h2>{group}</h2>
          <ul>
            {operations
              .filter((each) => groupOf(each) === group)
              .map(({ operationId, kind, method, path, summary }) => (
                <li key={operationId}>
                  <a
                    href={addressOf('reference', operationId, { q: query })}
                    aria-current={operationId === chosen ? 'true' : undefined}
                  >
                    <span>{summary ?? operationId}</span>
                    <small>
                      {kind === 'event' ? null : <b class="method">{method}</b>} {path}
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

function Overview({ document }: { readonly document: Document }) {
  const { title, version, description } = document.info;
  const codes = refusalsOf(document);
  return (
    <div class="exchange reference">
      <h2>
        {title} {version}
      </h2>
      <p class="route-what">{description}</p>
      <SignIn />
      <p>
        <a href="/console/openapi.json">The document itself, openapi.json</a>
      </p>
      {codes.length === 0 ? null : (
        <>
          <h3>Codes of refusals</h3>
          <Refusals codes={codes} ofAll />
        </>
      )}
    </div>
  );
}
