import { useEffect, useMemo, useRef, useState } from 'preact/hooks';
import { ClientTemplatePane } from './client-template-pane.tsx';
import { type ClientTemplate, keyOf, readTemplates, synchronize } from './client-templates.ts';
import { DemoUserChoice, NoDemoUser, useDemoUser } from './demo-user.tsx';
import { FilteredList } from './filtered-list.tsx';
import { Choice, Filters } from './filters.tsx';
import { Action, Badge, Empty, Problem, useAnswer } from './parts.tsx';
import { place } from './router.ts';
import { searched } from './search.ts';
import { followService, moment } from './service-polling.ts';
import { useStore } from './store.ts';
import { wordOf } from './texts.ts';

const pagesAtOnce = 5;
/** A synchronization goes on so long after its answer, at most. */
const synchronizesMs = 15_000;

/** Shows the templates of a client, as the service has them: its own switch, and its assignments. */
export function ClientTemplatesPage() {
  const who = useDemoUser();
  const client = `${who?.username} ${who?.clientId}`;
  const { id } = useStore(place);
  const turn = useStore(moment);
  const [pages, setPages] = useState(pagesAtOnce);
  const movingUntilMs = useRef(0);
  useEffect(() => followService(() => Date.now() < movingUntilMs.current), []);
  const list = useAnswer(
    who === undefined ? undefined : async () => ({ of: client, ...(await readTemplates(pages)) }),
    `${client} ${pages} ${turn}`,
  );
  // Rows of another client are not shown.
  const value = list.value?.of === client ? list.value : undefined;
  const rows = value?.rows;
  const found = useFound(rows);
  const started = () => (movingUntilMs.current = Date.now() + synchronizesMs);
  return (
    <div class={`page split ${id === '' ? '' : 'chosen'}`}>
      <section class="pane-list" aria-label="Templates of the client">
        <Filters label="Search name, language, category or campaign" hint="Name, language or campaign">
          <DemoUserChoice />
          <TemplateChoices rows={rows} />
        </Filters>
        {who === undefined ? (
          <NoDemoUser />
        ) : (
          <FilteredList
            page="client-templates"
            noun="template"
            label="Templates of the client"
            rows={rows}
            found={found}
            answer={list}
            keyOf={keyOf}
            rowHeight={64}
            chosen={id}
            row={(row) => <Row row={row} />}
            nothing="No templates yet"
            below={
              <>
                {value?.hasMore ? (
                  <p class="count">
                    <span>There are more.</span>
                    <button type="button" onClick={() => setPages(pages + pagesAtOnce)}>
                      Read more
                    </button>
                  </p>
                ) : null}
                <Synchronize onStarted={started} />
              </>
            }
          >
            <p>The service has to read them from the platform: synchronize.</p>
          </FilteredList>
        )}
      </section>
      <section class="pane-main" aria-label="Template">
        {id === '' || rows === undefined ? (
          <Empty title="Choose a template">
            <p>
              It is shown whether the client has it switched on, and to which channels and campaigns it is assigned.
            </p>
          </Empty>
        ) : (
          <ClientTemplatePane
            key={`${client} ${id}`}
            id={id}
            who={client}
            template={rows.find((row) => keyOf(row) === id)}
            onChange={list.again}
          />
        )}
      </section>
    </div>
  );
}

const campaignsOf = ({ channel_campaigns: groups }: ClientTemplate) => groups.map(({ campaign_name: name }) => name);

function TemplateChoices({ rows = [] }: { readonly rows: readonly ClientTemplate[] | undefined }) {
  const campaigns = useMemo(() => [...new Set(rows.flatMap(campaignsOf))].sort(), [rows]);
  const statuses = useMemo(() => [...new Set(rows.map((row) => row.platform_template.status))].sort(), [rows]);
  return (
    <>
      <Choice name="switch" label="Switch" all="On and off" options={switches} />
      <Choice
        name="campaign"
        label="Assignment"
        all="Assigned or not"
        options={[['Unassigned', 'Unassigned'] as const, ...campaigns.map((each) => [each, each] as const)]}
      />
      <Choice
        name="status"
        label="Status"
        all="Every status"
        options={statuses.map((each) => [each, wordOf(each)] as const)}
      />
    </>
  );
}

const switches = [
  ['on', 'Switched on'],
  ['off', 'Switched off'],
] as const;

function useFound(rows: readonly ClientTemplate[] | undefined): readonly ClientTemplate[] {
  const { q = '', switch: is = '', campaign = '', status = '' } = useStore(place).filter;
  return useMemo(() => {
    const hasWords = searched(q);
    return (rows ?? []).filter((row) => {
      const { name, language, category, status: has } = row.platform_template;
      const campaigns = campaignsOf(row);
      const isIn = campaigns.length === 0 ? campaign === 'Unassigned' : campaigns.includes(campaign);
      return (
        (is === '' || row.active === (is === 'on')) &&
        (campaign === '' || isIn) &&
        (status === '' || status === has) &&
        hasWords(`${name} ${language} ${category} ${campaigns.join(' ')}`)
      );
    });
  }, [rows, q, is, campaign, status]);
}

function Row({ row }: { readonly row: ClientTemplate }) {
  const { name, language, category, status } = row.platform_template;
  return (
    <>
      <span class="row-line">
        <strong>{name}</strong>
        {row.active ? <Badge value={status} /> : <Badge value="Switched off" />}
      </span>
      <span class="row-line small">
        <span class="row-template">
          {language} · {wordOf(category)}
        </span>
        <span class="row-assigned">{campaignsOf(row).join(', ') || 'Unassigned'}</span>
      </span>
    </>
  );
}

function Synchronize({ onStarted }: { readonly onStarted: () => void }) {
  const [said, setSaid] = useState('');
  const [problem, setProblem] = useState('');
  const run = async () => {
    setSaid('');
    await synchronize();
    onStarted();
    moment.set(moment.get() + 1);
    setSaid('The service reads them now.');
  };
  return (
    <div class="synchronize">
      <Action run={run} onProblem={setProblem}>
        Synchronize with the platform
      </Action>
      <span class="note" role="status">
        {said}
      </span>
      <Problem text={problem} />
    </div>
  );
}
