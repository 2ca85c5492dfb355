import type { ComponentChildren } from 'preact';
import { call } from './api.ts';
import type { MessageDetail, PersonsReply, SendDetail } from './model.ts';
import { Action, CopyButton, Facts, Json } from './parts.tsx';
import { addressOf } from './router.ts';
import { codeWordOf, momentOf, numberOf, timeOf, wordOf } from './texts.ts';

/** Shows facts of a send, each with a link to its page. */
export function SendFacts({ detail }: { readonly detail: SendDetail }) {
  const { row, callback_data: data, exchange } = detail;
  const facts: readonly (readonly [string, ComponentChildren])[] = [
    ['Template', <TemplateLink detail={detail} />],
    ['Recipient', row.to === '' ? 'none was named' : <Others wanted={numberOf(row.to)} shown={row.to} />],
    ['Dispatch', <DispatchLinks detail={detail} />],
    ['Received', momentOf(row.received_ms)],
    ...(row.category === '' ? [] : [['Category', wordOf(row.category)] as const]),
    ['From', `${detail.from} · ${row.number}`],
    ...(data === null || data === row.dispatch ? [] : [['Callback data', data] as const]),
    [
      'Request',
      exchange === null ? (
        'not kept any more'
      ) : (
        <a href={addressOf('requests', String(exchange))}>Request {exchange}, with its answer</a>
      ),
    ],
    ...(detail.dispatch === null || data === null
      ? []
      : [['Events', <a href={addressOf('webhooks', '', { q: data })}>What the client was told of it</a>] as const]),
    ...(row.refusal === undefined ? [['Message', row.id] as const] : []),
  ];
  return <Facts facts={facts} />;
}

function TemplateLink({ detail: { row, template_id: id } }: { readonly detail: SendDetail }) {
  if (row.template === '') return <>none: a text</>;
  if (id === '') return <>{`${row.template} · ${row.language}, which is not there`}</>;
  return (
    <>
      <a href={addressOf('templates', id)}>{row.template}</a> · {row.language}
    </>
  );
}

function DispatchLinks({ detail: { row, dispatch } }: { readonly detail: SendDetail }) {
  if (row.dispatch === '') return <>none: the sender has not marked it</>;
  if (dispatch === null) return <Others wanted={row.dispatch} shown={row.dispatch} />;
  return (
    <>
      <a href={addressOf('dispatches', `${dispatch.did}/${dispatch.id}`)}>{dispatch.id}</a> ·{' '}
      <Others wanted={dispatch.id} shown="all its messages" />
    </>
  );
}

interface OthersProps {
  readonly wanted: string;
  readonly shown: string;
}

function Others({ wanted, shown }: OthersProps) {
  return (
    <a href={addressOf('inbox', '', { q: wanted })} title="All messages with it">
      {shown}
    </a>
  );
}

/** Lists all sends of the same message, when there is more than one. */
export function Tries({ detail: { row, tries } }: { readonly detail: SendDetail }) {
  if (tries.length < 2) return null;
  const accepted = tries.filter(({ refusal }) => refusal === undefined).length;
  return (
    <section class="part" aria-labelledby="tries">
      <h3 id="tries">Tries of this message</h3>
      {accepted > 1 ? <p class="problem">The platform accepted it {accepted} times: it was sent twice.</p> : null}
      <ol class="steps">
        {tries.map(({ id, at_ms, refusal }) => (
          <li key={id}>
            <a href={addressOf('inbox', id)} aria-current={id === row.id ? 'true' : undefined}>
              {timeOf(at_ms)}
            </a>{' '}
            <span class={`ticks ${refusal === undefined ? 'accepted' : 'refused'}`}>
              {refusal === undefined ? 'accepted' : `refused ${codeWordOf(refusal)}`}
            </span>
          </li>
        ))}
      </ol>
    </section>
  );
}

export function Replies({ replies }: { readonly replies: readonly PersonsReply[] }) {
  if (replies.length === 0) return null;
  return (
    <section class="part" aria-labelledby="replies">
      <h3 id="replies">Replies</h3>
      <ol class="steps">
        {replies.map(({ id, text, at_ms, payload }) => (
          <li key={id}>
            <time dateTime={new Date(at_ms).toISOString()}>{timeOf(at_ms)}</time> <bdi>{text}</bdi>
            {payload === undefined ? null : <small> by a quick reply, which sends back {payload}</small>}
          </li>
        ))}
      </ol>
    </section>
  );
}

interface HoldsProps {
  readonly detail: SendDetail;
  readonly onProblem: (text: string) => void;
}

/** Lists holds that affect the send, each with a button that removes it. */
export function Holds({ detail, onProblem }: HoldsProps) {
  return (
    <>
      {detail.holds.map(({ of, id, code, remove }) => (
        <div key={remove} class="hold" role="note">
          <p>
            The platform holds {of === 'business' ? 'the business' : `the ${of}`} {id}: it stops messages with {code}{' '}
            until this is removed.
          </p>
          <Action run={() => call('DELETE', `/_control/${remove}`)} onProblem={onProblem}>
            Remove the hold
          </Action>
        </div>
      ))}
    </>
  );
}

interface HeldProps extends HoldsProps {
  readonly detail: MessageDetail;
  readonly nowMs: number;
}

/** Says why an accepted message is not delivered. */
export function Held({ detail, nowMs, onProblem }: HeldProps) {
  const { held_until_ms: untilMs } = detail.row;
  if (untilMs === undefined || (untilMs !== null && untilMs <= nowMs)) return null;
  if (untilMs !== null) {
    return (
      <p class="hold" role="note">
        The platform checks its quality and holds it until {timeOf(untilMs)}.{' '}
        <a href={addressOf('faults')}>Advance the clock</a>
      </p>
    );
  }
  const end = (outcome: string) => () =>
    call('POST', `/_control/businesses/${detail.business}/pacing/outcome`, { outcome });
  return (
    <div class="hold" role="note">
      <p>The platform holds it until it knows how the first messages of business {detail.business} fare.</p>
      <Action run={end('released')} onProblem={onProblem}>
        Release all that is held
      </Action>
      <Action tone="bad" run={end('dropped')} onProblem={onProblem}>
        Drop all that is held
      </Action>
    </div>
  );
}

export function RequestAsItCame({ request }: Pick<SendDetail, 'request'>) {
  return (
    <details class="raw">
      <summary>Request as it came</summary>
      <CopyButton text={JSON.stringify(request, null, 2)} label="Copy JSON" />
      <Json value={request} label="Request" />
    </details>
  );
}
