import { useEffect, useMemo, useRef } from 'preact/hooks';
import { DemoUserChoice, NoDemoUser, useDemoUser } from './demo-user.tsx';
import {
  type DispatchList,
  dispatchList,
  findDispatch,
  type Listed,
  listDispatches,
  readNewest,
  readOn,
} from './dispatch-list.ts';
import {
  campaignChoices,
  campaignNameOf,
  costInList,
  dispatchStates,
  failedWords,
  keyOf,
  type Names,
  progressOf,
  stateTones,
} from './dispatch-model.ts';
import { DispatchPane } from './dispatch-pane.tsx';
import { Choice, Filters } from './filters.tsx';
import { BackButton, Badge, Empty, Failed, Problem, useAnswer, Waiting } from './parts.tsx';
import { choose, isDispatchId, place } from './router.ts';
import { searched } from './search.ts';
import { followService, moment } from './service-polling.ts';
import { asUser, forClient, waitsUntilMs } from './session.ts';
import { SpendLine, SpendPane, spendAddress } from './spend-pane.tsx';
import { StateBar } from './state-bar.tsx';
import { useStore } from './store.ts';
import { momentOf, numberOf, wordOf } from './texts.ts';
import { VirtualList } from './virtual-list.tsx';

const noNames: Names = { client: '', campaigns: new Map(), channels: new Map() };
const rowHeight = 92;

/** Shows the service's own reports, as a demo user reads them. */
export function DispatchesPage() {
  const user = useDemoUser();
  if (user === undefined) {
    return (
      <div class="page">
        <NoDemoUser />
      </div>
    );
  }
  return <Dispatches who={`${user.username} ${user.clientId}`} />;
}

function Dispatches({ who }: { readonly who: string }) {
  const { id, filter } = useStore(place);
  const { state = '', campaign_id = '', template = '', did = '' } = filter;
  const query = useMemo(() => {
    const asked = Object.entries({ state, campaign_id, template, did }).filter(([, value]) => value !== '');
    return String(new URLSearchParams(asked));
  }, [state, campaign_id, template, did]);
  useEffect(() => listDispatches(who, query), [who, query]);
  const list = useStore(dispatchList);
  const names = useNames(who);
  const seen = useRef<readonly Listed[]>([]);
  const isPaneMoving = useRef(false);
  useEffect(() => {
    const isMoving = () => isPaneMoving.current || seen.current.some((row) => !row.complete);
    const end = followService(isMoving);
    const forget = moment.subscribe(() => void readNewest(seen.current));
    return () => {
      end();
      forget();
    };
  }, []);
  // The rows may be old when the reader comes back.
  useEffect(() => void readNewest([]), []);
  return (
    <div class={`page split ${id === '' ? '' : 'chosen'}`}>
      <section class="pane-list" aria-label="Dispatches">
        <div class="filters asking">
          <DemoUserChoice />
          <SpendLine who={who} />
        </div>
        <DispatchFilters list={list} names={names} />
        <Found list={list} names={names} onSeen={(rows) => (seen.current = rows)} />
      </section>
      <section class="pane-main" aria-label="Dispatch">
        {id === '' || id === spendAddress ? (
          <SpendPane key={who} who={who} names={names} />
        ) : isDispatchId(id) ? (
          <BareDispatch key={`${who} ${id}`} id={id} />
        ) : (
          <DispatchPane key={`${who} ${id}`} id={id} names={names} onMoving={(is) => (isPaneMoving.current = is)} />
        )}
      </section>
    </div>
  );
}

/** Finds the number of a dispatch that the address names by its id alone. */
function BareDispatch({ id }: { readonly id: string }) {
  const { value, problem, again } = useAnswer(() => findDispatch(id), id);
  useEffect(() => {
    if (value !== undefined) choose('dispatches', keyOf(value));
  }, [value]);
  if (problem === '') return <Waiting />;
  return (
    <Failed title="This dispatch cannot be shown" problem={problem} onAgain={again}>
      <BackButton page="dispatches">All dispatches</BackButton>
    </Failed>
  );
}

/** The names change seldom, so they are read once for each user and client. */
function useNames(who: string): Names {
  const { value } = useAnswer(async () => {
    const [me, channels] = await Promise.all([
      asUser<{
        readonly client: { readonly name: string };
        readonly campaigns: readonly { readonly id: number; readonly name: string }[];
      }>('GET', forClient('/v1/me')),
      asUser<{ readonly data: readonly { readonly did: string; readonly name: string | null }[] }>(
        'GET',
        forClient('/v1/client-messaging-channels?fields=did,name&size=100'),
      ),
    ]);
    return {
      client: me.client.name,
      campaigns: new Map(me.campaigns.map(({ id, name }) => [id, name])),
      channels: new Map(channels.data.map(({ did, name }) => [did, name ?? ''])),
    };
  }, who);
  return value ?? noNames;
}

interface FiltersProps {
  readonly list: Pick<DispatchList, 'templates' | 'campaigns'>;
  readonly names: Names;
}

function DispatchFilters({ list, names }: FiltersProps) {
  const templates = useMemo(() => [...list.templates].sort(), [list.templates]);
  const campaigns = useMemo(() => campaignChoices(list.campaigns, names), [list.campaigns, names]);
  return (
    <Filters label="Search template, number, dispatch or state" hint="Template, number or dispatch">
      <Choice
        name="state"
        label="State"
        all="Every state"
        options={dispatchStates.map((each) => [each, wordOf(each)] as const)}
      />
      <Choice name="campaign_id" label="Campaign" all="Every campaign" options={campaigns} />
      <Choice
        name="template"
        label="Template"
        all="Every template"
        options={templates.map((each) => [each, each] as const)}
      />
      <Choice
        name="did"
        label="Number"
        all="Every number"
        options={[...names.channels].map(([each, name]) => [each, `${numberOf(each)} ${name}`] as const)}
      />
    </Filters>
  );
}

interface FoundProps {
  readonly list: DispatchList;
  readonly names: Names;
  readonly onSeen: (rows: readonly Listed[]) => void;
}

/** The next page is read this many rows before the last one. */
const readsAhead = 30;

function Found({ list: { rows, after, isReading, problem }, names, onSeen }: FoundProps) {
  const { id, filter } = useStore(place);
  const { q = '' } = filter;
  const found = useMemo(() => {
    const hasWords = searched(q);
    return q.trim() === '' ? (rows ?? []) : (rows ?? []).filter((row) => hasWords(row.text));
  }, [rows, q]);
  const seen = (first: number, last: number) => {
    onSeen(found.slice(first, last));
    // A search looks through what was read: it must not read everything by itself.
    if (q.trim() === '' && last > found.length - readsAhead && after !== undefined && problem === '') void readOn();
  };
  const read = rows?.length ?? 0;
  const isNarrowed = Object.values(filter).some((value) => value !== '');
  return (
    <>
      <div class="count">
        <p role="status">
          {rows === undefined ? '' : countOf(found.length, read, after !== undefined)}
          <WaitsForMinute />
        </p>
        {after === undefined ? null : (
          <button type="button" disabled={isReading} onClick={() => void readOn()}>
            Read more
          </button>
        )}
      </div>
      {rows === undefined ? null : <Problem text={problem} />}
      {found.length > 0 ? (
        <VirtualList
          label="Dispatches, newest first"
          items={found}
          keyOf={keyOf}
          rowHeight={rowHeight}
          chosen={id}
          onChoose={(row) => choose('dispatches', keyOf(row))}
          onLeave={() => choose('dispatches')}
          onSeen={seen}
          row={(row) => <Row row={row} names={names} />}
        />
      ) : rows === undefined ? (
        <NotRead problem={problem} />
      ) : isNarrowed || read > 0 ? (
        <Empty title="No dispatch is like that" />
      ) : (
        <Empty title="No dispatches yet">
          <p>
            What {names.client || 'this client'} sends is listed here. <code>npm run demo</code> sends to 1,000, and the
            Reference can send one message.
          </p>
        </Empty>
      )}
    </>
  );
}

function NotRead({ problem }: { readonly problem: string }) {
  return problem === '' ? (
    <Waiting />
  ) : (
    <Failed title="The dispatches could not be read" problem={problem} onAgain={() => void readOn()} />
  );
}

function countOf(found: number, read: number, hasMore: boolean): string {
  const [some, all] = [found.toLocaleString('en'), read.toLocaleString('en')];
  if (found < read) return `${some} of ${all} dispatches${hasMore ? ' read so far' : ''}`;
  return `${all} ${read === 1 ? 'dispatch' : 'dispatches'}${hasMore ? ', and more' : ''}`;
}

function WaitsForMinute() {
  const untilMs = useStore(waitsUntilMs);
  useStore(moment);
  return untilMs > Date.now() ? <span> · too many requests, waiting a moment</span> : null;
}

interface RowProps {
  readonly row: Listed;
  readonly names: Names;
}

function Row({ row, names }: RowProps) {
  const { ended } = progressOf(row);
  // Nothing is said before the names are read, because it would change a moment later.
  const isUnnamed = row.campaign_id === undefined || names === noNames;
  const campaign = isUnnamed ? '' : campaignNameOf(row.campaign_id, names);
  const all = row.total.toLocaleString('en');
  return (
    <>
      <span class="row-line">
        <strong>{row.template.name}</strong>
        <Badge value={row.state} tone={stateTones[row.state] ?? 'plain'} />
      </span>
      <span class="row-line small">
        <span class="row-template">
          {numberOf(row.did)}
          {campaign === '' ? '' : ` · ${campaign}`}
          {row.retry_of === undefined ? '' : ' · retry'}
        </span>
        <time dateTime={row.accepted_at}>{momentOf(Date.parse(row.accepted_at))}</time>
      </span>
      <StateBar counts={row.counts} isSaid isCancelled={row.state === 'cancelled'} />
      <span class="row-line small">
        <span class="row-template">
          {row.complete ? all : `${ended.toLocaleString('en')} of ${all}`}
          {row.state === 'scheduled' && row.schedule !== undefined
            ? ` · from ${momentOf(Date.parse(row.schedule.from))}`
            : ''}
          {row.counts.failed > 0 ? (
            <span class={row.state === 'cancelled' ? '' : 'row-failed'}>
              {' '}
              · {row.counts.failed.toLocaleString('en')} {failedWords(row.state)}
            </span>
          ) : null}
        </span>
        <span>{costInList(row.cost)}</span>
      </span>
    </>
  );
}
