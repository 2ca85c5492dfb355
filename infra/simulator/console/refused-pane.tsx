import { useState } from 'preact/hooks';
import { control } from './api.ts';
import { Remedy } from './code-words.tsx';
import { counters } from './live.ts';
import type { RefusedDetail } from './model.ts';
import { BackButton, Badge, Failed, Problem, useAnswer, Waiting } from './parts.tsx';
import { Phone } from './phone.tsx';
import { Holds, RequestAsItCame, SendFacts, Tries } from './send-facts.tsx';
import { useStore } from './store.ts';
import { codeWordOf, numberOf } from './texts.ts';

/** The simulator gives these ids, because the platform gives a refused send none. */
export function isRefused(id: string): boolean {
  return id.startsWith('refused.');
}

/** Shows an empty phone for a refused send, and the reason beside it. */
export function RefusedPane({ id }: { readonly id: string }) {
  const told = useStore(counters);
  const when = `${id} ${told?.world} ${told?.settings} ${told?.messages} ${told?.refused}`;
  const { value, problem, again } = useAnswer(() => control<RefusedDetail>(`refused/${encodeURIComponent(id)}`), when);
  if (value !== undefined && problem === '') return <Refused detail={value} />;
  if (problem === '') return <Waiting />;
  return (
    <Failed title="This refused message cannot be shown" problem={problem} onAgain={again}>
      <BackButton page="inbox">All messages</BackButton>
    </Failed>
  );
}

function Refused({ detail }: { readonly detail: RefusedDetail }) {
  const { row, refusal } = detail;
  const [problem, setProblem] = useState('');
  const whom = row.to === '' ? 'No recipient' : numberOf(row.to);
  return (
    <div class="message-pane">
      <BackButton page="inbox">All messages</BackButton>
      <Phone label={`Phone of ${whom}`} name={detail.from_name || 'Business'} note={detail.from} isEmpty>
        <p class="chat-note">Nothing arrived: the platform refused the message</p>
      </Phone>
      <div class="facts">
        <h2>
          {whom} <Badge value={`Refused ${codeWordOf(refusal)}`} tone="bad" />
          {detail.stopped ? <Badge value="Stopped marketing" tone="warn" /> : null}
        </h2>
        <blockquote class="reason" aria-label="What the platform answered">
          <p>{refusal.message}</p>
          {refusal.details === '' || refusal.message.includes(refusal.details) ? null : <p>{refusal.details}</p>}
          <small>
            HTTP {refusal.http_status}
            {refusal.subcode === null ? '' : ` · subcode ${refusal.subcode}`}
          </small>
        </blockquote>
        {refusal.code === null ? null : <Remedy code={String(refusal.code)} />}
        <Holds detail={detail} onProblem={setProblem} />
        <Problem text={problem} />
        <SendFacts detail={detail} />
        <Tries detail={detail} />
        <RequestAsItCame request={detail.request} />
      </div>
    </div>
  );
}
