import type { ComponentChildren } from 'preact';
import { useEffect, useRef } from 'preact/hooks';
import { DispatchActions } from './dispatch-actions.tsx';
import { DispatchHolds } from './dispatch-holds.tsx';
import { dispatchList } from './dispatch-list.ts';
import {
  campaignNameOf,
  type DispatchState,
  endOf,
  type Found,
  failedWords,
  keyOf,
  moneyOf,
  type Names,
  type Paged,
  progressOf,
  type Report,
  type ReportRow,
  reportPath,
  stateOf,
  states,
  stateTones,
  waitingOf,
} from './dispatch-model.ts';
import { DispatchRecipients } from './dispatch-recipients.tsx';
import { BackButton, Badge, CopyButton, Facts, Failed, Problem, useAnswer, Waiting } from './parts.tsx';
import { addressOf } from './router.ts';
import { moment } from './service-polling.ts';
import { asUser, forClient } from './session.ts';
import { StateBar } from './state-bar.tsx';
import { useStore } from './store.ts';
import { counted, momentOf, numberOf, wordOf } from './texts.ts';

interface PaneData {
  readonly report: Report;
  /** Only the first pending recipients are here. */
  readonly waiting: readonly ReportRow[];
  readonly listed: DispatchState | undefined;
}

interface PaneProps {
  /** The form is `<did>/<dispatch id>`. */
  readonly id: string;
  readonly names: Names;
  readonly onMoving: (is: boolean) => void;
}

export function DispatchPane({ id, names, onMoving }: PaneProps) {
  const turn = useStore(moment);
  const { value, problem, again } = useAnswer(() => read(id), `${id} ${turn}`);
  const isMoving = value?.report.complete === false;
  useEffect(() => {
    onMoving(isMoving);
    return () => onMoving(false);
  }, [isMoving]);
  const back = <BackButton page="dispatches">All dispatches</BackButton>;
  if (value === undefined) {
    return problem === '' ? (
      <Waiting />
    ) : (
      <Failed title="This dispatch cannot be shown" problem={problem} onAgain={again}>
        {back}
      </Failed>
    );
  }
  const { report, waiting, listed } = value;
  const state = stateOf(report, waiting, listed);
  return (
    <div class="exchange dispatch">
      {back}
      <h2>
        {report.template.name} <Badge value={state} tone={stateTones[state] ?? 'plain'} />
      </h2>
      <Problem text={problem} />
      <Progress report={report} state={state} />
      <DispatchHolds report={report} waiting={waiting} onLifted={again} />
      <DispatchActions report={report} state={state} names={names} onChange={again} />
      <Facts facts={factsOf(value, names)} />
      <DispatchRecipients report={report} isCancelled={state === 'cancelled'} when={`${turn}`} />
    </div>
  );
}

async function read(id: string): Promise<PaneData> {
  const report = await asUser<Report>('GET', forClient(`${reportPath(id)}?limit=1`));
  const [waiting, listed] = await Promise.all([
    report.counts.pending === 0
      ? []
      : asUser<Report>('GET', forClient(`${reportPath(id)}?state=pending&limit=100`)).then(({ data }) => data),
    listedState(report),
  ]);
  return { report, waiting, listed };
}

/** Only the list knows a cancelled dispatch. One further down is queried by its time. */
async function listedState(report: Report): Promise<DispatchState | undefined> {
  const isIt = (row: Found) => keyOf(row) === keyOf(report);
  const known = dispatchList.get().rows?.find(isIt)?.state;
  if (known !== undefined && (known === 'cancelled' || !report.complete)) return known;
  const from = report.accepted_at;
  const to = new Date(Date.parse(from) + 1).toISOString();
  const query = new URLSearchParams({ did: report.did, from, to, limit: '100' });
  const { data } = await asUser<Paged<Found>>('GET', forClient(`/v1/dispatches?${query}`));
  return data.find(isIt)?.state;
}

interface ProgressProps {
  readonly report: Report;
  readonly state: DispatchState;
}

function Progress({ report, state }: ProgressProps) {
  const { ended, percent } = progressOf(report);
  const end = useEstimatedEnd(report);
  return (
    <section class={`progress ${state === 'cancelled' ? 'of-cancelled' : ''}`} aria-label="Progress">
      <p class="row-line">
        <span class="figure">{percent} %</span>
        <span class="note">
          {ended.toLocaleString('en')} of {counted(report.total, 'recipient')} settled
          {end === undefined ? '' : ` · about ${momentOf(end)} until the last one`}
        </span>
      </p>
      <StateBar counts={report.counts} />
      <ul class="legend" aria-label="Recipients in each state">
        {states.map((each) => (
          <li key={each} class={report.counts[each] === 0 ? 'none' : ''}>
            <span class={`swatch state-${each}`} aria-hidden="true" />
            {wordOf(each === 'failed' ? failedWords(state) : each)}{' '}
            <strong>{report.counts[each].toLocaleString('en')}</strong>
          </li>
        ))}
      </ul>
    </section>
  );
}

/** The estimate uses only the newest looks, because the pace may change. */
const looksKept = 8;

function useEstimatedEnd(report: Report): number | undefined {
  const looks = useRef<{ readonly atMs: number; readonly pending: number }[]>([]);
  const last = useRef<Report | undefined>(undefined);
  if (last.current !== report) {
    last.current = report;
    looks.current = [...looks.current, { atMs: Date.now(), pending: report.counts.pending }].slice(-looksKept);
  }
  return endOf(looks.current);
}

type Fact = readonly [string, ComponentChildren];

function factsOf({ report, waiting }: PaneData, names: Names): readonly Fact[] {
  const { did, campaign_id: campaign, cost, retry_of: source, retried_by: retries = [] } = report;
  const dispatchLink = (id: string) => <a href={addressOf('dispatches', `${did}/${id}`)}>{id}</a>;
  return [
    ['Template', <TemplateLink {...report.template} />],
    ['Campaign', campaign === undefined ? 'none' : campaignNameOf(campaign, names)],
    ['Sent from', `${numberOf(did)} ${names.channels.get(did) ?? ''}`],
    ['Client', `${names.client} ${report.client_id}`],
    ['Accepted', momentOf(Date.parse(report.accepted_at))],
    ...scheduleFacts(report, waitingOf(waiting).opensAt),
    [
      'Cost',
      <>
        {moneyOf(cost.amount, cost.currency)}
        <span class="note">
          {' '}
          {cost.final ? 'final' : 'so far'}, {cost.basis === 'platform' ? 'as the platform told' : 'at list prices'}
        </span>
      </>,
    ],
    ...(source === undefined ? [] : [['Retry of', dispatchLink(source)] as const]),
    ...(retries.length === 0
      ? []
      : [['Retried by', retries.map((each) => <div key={each}>{dispatchLink(each)}</div>)] as const]),
    [
      'Dispatch',
      <>
        <code>{report.dispatch_id}</code> <CopyButton text={report.dispatch_id} label="Copy" what="the dispatch id" />
      </>,
    ],
    [
      'See also',
      <>
        <a href={addressOf('inbox', '', { q: report.dispatch_id })}>its messages on the phone</a> ·{' '}
        <a href={addressOf('webhooks', '', { q: report.dispatch_id })}>its events</a>
      </>,
    ],
  ];
}

function TemplateLink({ name, language }: Report['template']) {
  return (
    <>
      <a href={addressOf('client-templates', '', { q: `${name} ${language}` })}>{name}</a> · {language}
    </>
  );
}

function scheduleFacts({ schedule, complete }: Report, opensAt: string | undefined): readonly Fact[] {
  if (schedule === undefined) return [];
  const { send_at: sendAt, window, days, zone, from } = schedule;
  const hours = [days, window].filter((each) => each !== undefined).join(', ');
  const where = zone ?? 'by the clocks of each recipient';
  return [
    ...(sendAt === undefined ? [] : [['Not before', momentOf(Date.parse(sendAt))] as const]),
    ...(hours === '' ? [] : [['Hours', `${hours}, ${where}`] as const]),
    ...(complete ? [] : [['Next opening', momentOf(Date.parse(opensAt ?? from))] as const]),
  ];
}
