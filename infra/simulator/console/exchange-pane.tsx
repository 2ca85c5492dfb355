import { useState } from 'preact/hooks';
import { control } from './api.ts';
import type { ExchangeDetail } from './model.ts';
import { BackButton, CopyButton, Failed, Json, useAnswer, Waiting } from './parts.tsx';
import { isRefused } from './refused-pane.tsx';
import { addressOf } from './router.ts';
import { curlOf, momentOf } from './texts.ts';

export function Status({ status }: { readonly status: number | null }) {
  const tone = status === null ? 'plain' : status < 300 ? 'good' : status < 500 ? 'warn' : 'bad';
  return <span class={`badge ${tone}`}>{status ?? 'no answer'}</span>;
}

interface PaneProps {
  readonly id: string;
  readonly when: string;
  readonly answered: number;
}

export function ExchangePane({ id, when, answered }: PaneProps) {
  const [settled, setSettled] = useState(false);
  const ask = async () => {
    const exchange = await control<ExchangeDetail>(`exchanges/${encodeURIComponent(id)}`);
    setSettled(exchange.reply !== null);
    return exchange;
  };
  // An answered request does not change any more.
  const { value, problem, again } = useAnswer(ask, settled ? when : `${when} ${answered}`);
  const back = <BackButton page="requests">All requests</BackButton>;
  if (problem !== '') {
    return (
      <Failed title="This request cannot be shown" problem={problem} onAgain={again}>
        {back}
      </Failed>
    );
  }
  if (value === undefined) return <Waiting />;
  const { method, path, request, reply } = value;
  const { query, body } = request;
  const origin = window.location.origin;
  return (
    <div class="exchange">
      {back}
      <h2>
        <b class="method">{method}</b> {path} <Status status={value.status} />
      </h2>
      <p class="exchange-tools">
        <time class="note" dateTime={value.received_at}>
          {momentOf(Date.parse(value.received_at))}
        </time>
        {value.message === null ? null : (
          <a href={addressOf('inbox', value.message)}>{isRefused(value.message) ? 'In the inbox' : 'Its message'}</a>
        )}
        <CopyButton text={curlOf({ origin, method, path, query, body })} label="Copy as curl" />
      </p>
      {Object.keys(query).length === 0 ? null : (
        <>
          <h3>Query</h3>
          <Json value={query} label="Query" />
        </>
      )}
      <h3>Asked</h3>
      {body === null ? <p class="note">No body.</p> : <Json value={body} label="Body of the request" />}
      <h3>Got</h3>
      <Reply reply={reply} />
    </div>
  );
}

function Reply({ reply }: Pick<ExchangeDetail, 'reply'>) {
  if (reply === null) return <p class="note">No answer yet.</p>;
  if (reply.kind === 'closed') return <p class="note">The connection was closed without an answer.</p>;
  if (reply.kind === 'bytes') return <p class="note">A file.</p>;
  return (
    <>
      {reply.cut ? <p class="note">The answer is long: this is how it begins.</p> : null}
      <Json value={reply.body} label="Body of the answer" />
    </>
  );
}
