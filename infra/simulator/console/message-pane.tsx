import { useMemo, useState } from 'preact/hooks';
import { control } from './api.ts';
import { Remedy } from './code-words.tsx';
import { counters, now } from './live.ts';
import { MessageActions } from './message-actions.tsx';
import { statusAt } from './message-status.ts';
import type { MessageDetail } from './model.ts';
import { BackButton, Badge, Failed, Problem, useAnswer, Waiting } from './parts.tsx';
import { Bubble, type ButtonPlace } from './phone.tsx';
import { phoneView } from './phone-view.ts';
import { Held, Holds, Replies, RequestAsItCame, SendFacts, Tries } from './send-facts.tsx';
import { useStore } from './store.ts';
import { numberOf, timeOf, wordOf } from './texts.ts';

/** The phone with one message, and beside it what is known of the message. */
export function MessagePane({ id }: { readonly id: string }) {
  const told = useStore(counters);
  const when = `${id} ${told?.world} ${told?.touched} ${told?.settings}`;
  const { value, problem, again } = useAnswer(() => control<MessageDetail>(`messages/${encodeURIComponent(id)}`), when);
  if (problem !== '') {
    return (
      <Failed title="This message cannot be shown" problem={problem} onAgain={again}>
        <BackButton page="inbox">All messages</BackButton>
      </Failed>
    );
  }
  return value === undefined ? <Waiting /> : <Message detail={value} />;
}

function Message({ detail }: { readonly detail: MessageDetail }) {
  const { row, components, parts } = detail;
  const [problem, setProblem] = useState('');
  const nowMs = useStore(now);
  const { code: failure } = statusAt(row, nowMs);
  const view = useMemo(() => phoneView(components, parts), [components, parts]);
  const tap = (place: ButtonPlace) => {
    setProblem('');
    control(`messages/${encodeURIComponent(row.id)}/tap`, place).catch((error: Error) => setProblem(error.message));
  };
  return (
    <div class="message-pane">
      <BackButton page="inbox">All messages</BackButton>
      <section class="phone" aria-label={`Phone of ${numberOf(row.to)}`}>
        <div class="phone-top">
          <span class="avatar" aria-hidden="true">
            {detail.from_name.charAt(0) || '#'}
          </span>
          <p>
            <strong>{detail.from_name || 'Business'}</strong>
            <small>{detail.from}</small>
          </p>
        </div>
        <div class="chat">
          <Bubble view={view} time={timeOf(row.received_ms)} onTap={tap} />
          {detail.replies.map((each) => (
            <div key={each.id} class="bubble mine">
              <p class="bubble-text" dir="auto">
                {each.text}
              </p>
              <p class="bubble-time">{timeOf(each.at_ms)}</p>
            </div>
          ))}
          {detail.stopped ? <p class="chat-note">This recipient has stopped marketing</p> : null}
          {detail.blocked ? <p class="chat-note">This recipient has blocked the business</p> : null}
        </div>
      </section>
      <div class="facts">
        <h2>
          {numberOf(row.to)} {detail.stopped ? <Badge value="Stopped marketing" tone="warn" /> : null}
        </h2>
        <Timeline detail={detail} />
        {failure === undefined ? null : <Remedy code={String(failure)} />}
        <Held detail={detail} nowMs={nowMs} onProblem={setProblem} />
        <Holds detail={detail} onProblem={setProblem} />
        <Problem text={problem} />
        <MessageActions detail={detail} onProblem={setProblem} />
        <SendFacts detail={detail} />
        <Replies replies={detail.replies} />
        <Tries detail={detail} />
        <RequestAsItCame request={detail.request} />
      </div>
    </div>
  );
}

/** What was told of the message and what is going to be, on the simulator's clock. */
function Timeline({ detail: { row } }: { readonly detail: MessageDetail }) {
  const nowMs = useStore(now);
  const steps = [{ status: 'accepted', at_ms: row.received_ms }, ...row.told].sort((a, b) => a.at_ms - b.at_ms);
  return (
    <ol class="timeline" aria-label="What was told of it">
      {steps.map((step, at) => (
        <li key={String(at)} class={`${step.status} ${step.at_ms > nowMs ? 'planned' : ''}`}>
          <span>
            {wordOf(step.status)}
            {'code' in step && step.code !== undefined ? ` ${step.code}` : ''}
          </span>
          <time dateTime={new Date(step.at_ms).toISOString()}>
            {step.at_ms > nowMs ? `planned, ${timeOf(step.at_ms)}` : timeOf(step.at_ms)}
          </time>
        </li>
      ))}
    </ol>
  );
}
