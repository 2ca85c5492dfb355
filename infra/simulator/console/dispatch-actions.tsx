import type { ComponentChildren } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import { sentenceOf } from './api.ts';
import { useCodeTitle } from './code-words.tsx';
import {
  campaignNameOf,
  type DispatchState,
  type Head,
  keyOf,
  moneyOf,
  type Names,
  type Report,
  reportPath,
} from './dispatch-model.ts';
import { Action, Problem, Twice } from './parts.tsx';
import { addressOf } from './router.ts';
import { moment } from './service-polling.ts';
import { answerToUser, asUser, forClient } from './session.ts';
import { counted } from './texts.ts';

interface ActionsProps {
  readonly report: Head;
  readonly state: DispatchState;
  readonly names: Names;
  readonly onChange: () => void;
}

/** Cancels a dispatch or its campaign, and retries the recipients that were not reached. */
export function DispatchActions({ report, state, names, onChange }: ActionsProps) {
  const [problem, setProblem] = useState('');
  const [said, setSaid] = useState<ComponentChildren>('');
  const { campaign_id: campaign, counts } = report;
  const changed = (words: ComponentChildren) => {
    setSaid(words);
    onChange();
    // The list has to read the change too.
    moment.set(moment.get() + 1);
  };
  const cancel = async () => {
    const head = await asUser<Head>('DELETE', forClient(reportPath(keyOf(report))));
    const under = head.counts.pending;
    changed(`Cancelled: nothing more leaves${under === 0 ? '' : `, but ${counted(under, 'message')} under way`}.`);
  };
  const cancelCampaign = async () =>
    changed(`${counted(await cancelAll(campaign ?? 0), 'dispatch', 'dispatches')} cancelled.`);
  const campaignName = campaignNameOf(campaign ?? 0, names);
  const notReached = counts.failed + counts.expired;
  const isOpen = !report.complete && state !== 'cancelled';
  if (!isOpen && notReached === 0 && campaign === undefined && said === '') return null;
  return (
    <section class="actions" aria-label="What can be done">
      <p role="status" class={said === '' ? 'hidden' : ''}>
        {said}
      </p>
      <Problem text={problem} />
      {notReached > 0 ? <Retry report={report} onSaid={changed} onProblem={setProblem} /> : null}
      <div class="action-line">
        {isOpen ? (
          <Twice label="Cancel the dispatch" sure="Yes, cancel what has not left" run={cancel} onProblem={setProblem} />
        ) : null}
        {campaign === undefined ? null : (
          <Twice
            label={`Cancel all of ${campaignName}`}
            sure={`Yes, cancel every open dispatch of ${campaignName}`}
            run={cancelCampaign}
            onProblem={setProblem}
          />
        )}
      </div>
    </section>
  );
}

/** A request cancels only a part; the next one continues. */
async function cancelAll(campaign: number): Promise<number> {
  for (let cancelled = 0; ; ) {
    const answer = await asUser<{ readonly cancelled: number; readonly more: boolean }>(
      'DELETE',
      forClient(`/v1/dispatches?campaign_id=${campaign}`),
    );
    cancelled += answer.cancelled;
    if (!answer.more) return cancelled;
  }
}

interface Rehearsal {
  readonly recipients: number;
  readonly warning?: string;
  readonly would_refuse?: { readonly message: string };
  readonly estimate?: { readonly cost: { readonly amount: number; readonly currency: string } };
}

/** A rehearsed retry has its codes, the result, and the key that makes the send idempotent. */
interface Rehearsed {
  readonly codes: readonly string[];
  readonly rehearsal: Rehearsal;
  readonly key: string;
}

interface RetryProps {
  readonly report: Head;
  readonly onSaid: (words: ComponentChildren) => void;
  readonly onProblem: (text: string) => void;
}

/** Retries after a rehearsal that shows the number of recipients and the cost. */
function Retry({ report, onSaid, onProblem }: RetryProps) {
  const [code, setCode] = useState('');
  const [codes, setCodes] = useState<readonly (readonly [string, number])[]>([]);
  const [rehearsed, setRehearsed] = useState<Rehearsed>();
  const path = `${reportPath(keyOf(report))}/retry`;
  const bodyOf = (some: readonly string[]) => JSON.stringify(some.length === 0 ? {} : { codes: some });
  useEffect(() => {
    codesOf(report).then(setCodes, (error: unknown) => onProblem(sentenceOf(error)));
  }, [report.dispatch_id, report.counts.failed, report.counts.expired]);
  const rehearse = async () => {
    const some = code === '' ? [] : [code];
    setRehearsed(undefined);
    const given = { headers: { 'dry-run': 'true' }, body: bodyOf(some) };
    const rehearsal = await asUser<Rehearsal>('POST', forClient(path), given);
    setRehearsed({ codes: some, rehearsal, key: crypto.randomUUID() });
  };
  const send = async () => {
    if (rehearsed === undefined) return;
    const given = { headers: { 'idempotency-key': rehearsed.key }, body: bodyOf(rehearsed.codes) };
    const { headers } = await answerToUser('POST', forClient(path), given);
    const id = headers['dispatch-id'] ?? '';
    setRehearsed(undefined);
    onSaid(
      <>
        Sent once more: <a href={addressOf('dispatches', `${report.did}/${id}`)}>see the new dispatch</a>
      </>,
    );
  };
  const { rehearsal } = rehearsed ?? {};
  const cost = rehearsal?.estimate?.cost;
  return (
    <>
      <div class="action-line">
        <label class="grow">
          <span>Send once more</span>
          <select
            value={code}
            onChange={({ currentTarget }) => {
              setCode(currentTarget.value);
              setRehearsed(undefined);
            }}
          >
            <option value="">to all who may be reached now</option>
            {codes.map(([each, count]) => (
              <Cause key={each} code={each} count={count} />
            ))}
          </select>
        </label>
        <Action tone={rehearsed === undefined ? 'main' : 'plain'} run={rehearse} onProblem={onProblem}>
          Rehearse the retry
        </Action>
      </div>
      {rehearsal === undefined ? null : (
        <div class="quiet" role="status">
          <p>
            It would go to {counted(rehearsal.recipients, 'recipient')}
            {cost === undefined ? '' : ` and cost up to ${moneyOf(cost.amount, cost.currency)}`}. {rehearsal.warning}
            {rehearsal.would_refuse === undefined ? '' : `It would be refused: ${rehearsal.would_refuse.message}`}
          </p>
          <p class="action-line">
            <Action tone="main" run={send} onProblem={onProblem}>
              Send to {counted(rehearsal.recipients, 'recipient')}
            </Action>
            <button type="button" class="button" onClick={() => setRehearsed(undefined)}>
              Do not send
            </button>
          </p>
        </div>
      )}
    </>
  );
}

interface CauseProps {
  readonly code: string;
  readonly count: number;
}

function Cause({ code, count }: CauseProps) {
  const title = useCodeTitle(code);
  return (
    <option value={code}>
      only to the {count.toLocaleString('en')} with {title}
    </option>
  );
}

/** Returns the codes of the first 1,000 recipients that were not reached, most frequent first. */
async function codesOf(report: Head): Promise<readonly (readonly [string, number])[]> {
  const path = `${reportPath(keyOf(report))}?state=failed,expired&limit=1000`;
  const { data } = await asUser<Report>('GET', forClient(path));
  const counts = new Map<string, number>();
  for (const { code } of data) if (code !== undefined) counts.set(code, (counts.get(code) ?? 0) + 1);
  return [...counts].sort(([, one], [, other]) => other - one);
}
