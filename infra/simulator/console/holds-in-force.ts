import { call, control } from './api.ts';
import type { HoldView, Overview } from './model.ts';
import { counted } from './texts.ts';

export interface HoldInForce {
  readonly key: string;
  /** Control calls name the held node `wabas/1`, `numbers/2`, `templates/3` or `businesses/4`. */
  readonly node: string;
  /** The service's report of waiting recipients has this code; absent when nothing waits for it. */
  readonly code?: string;
  readonly title: string;
  readonly stops: string;
  readonly sinceMs: number;
  readonly untilMs?: number;
  readonly button: string;
  readonly end: () => Promise<unknown>;
}

interface HoldWords {
  readonly of: 'waba' | 'number';
  readonly reason: string;
  readonly stops: string;
}

const allMessages = 'All messages of it are refused.';

export const holdWords: Readonly<Record<string, HoldWords>> = {
  131042: { of: 'waba', reason: 'payment problem', stops: allMessages },
  131031: { of: 'waba', reason: 'account locked', stops: allMessages },
  368: { of: 'waba', reason: 'account restricted for a policy', stops: allMessages },
  131064: { of: 'waba', reason: 'misused categories', stops: 'Its UTILITY messages are refused.' },
  no_utility_templates: {
    of: 'waba',
    reason: 'no utility templates',
    stops: 'No UTILITY template can be created; those there were have become MARKETING.',
  },
  no_answer: { of: 'number', reason: 'no answer', stops: 'Its messages get no answer.' },
  131037: { of: 'number', reason: 'display name not approved', stops: allMessages },
  133010: { of: 'number', reason: 'number not registered', stops: allMessages },
  131045: { of: 'number', reason: 'certificate not valid', stops: allMessages },
  131048: { of: 'number', reason: 'quality restrictions', stops: 'Its MARKETING messages are refused.' },
};

const untilOf = (at: string | null | undefined) => (at == null ? {} : { untilMs: Date.parse(at) });

export function holdsInForce(overview: Overview): readonly HoldInForce[] {
  const { wabas, numbers, paused, businesses } = overview;
  const holds = [
    ...wabas.flatMap(({ id, fields, holds: on }) => on.map(nodeHold({ path: `wabas/${id}`, name: fields['name'] }))),
    ...numbers.flatMap(({ id, fields, holds: on }) =>
      on.map(nodeHold({ path: `numbers/${id}`, name: fields['display_phone_number'] })),
    ),
    ...paused.map(
      ({ id, name, language, since, until }): HoldInForce => ({
        key: `template ${id}`,
        ...{ node: `templates/${id}`, code: 'template_paused' },
        title: `Template ${name} (${language}): paused`,
        stops: 'Messages of it are refused with code 132015.',
        sinceMs: Date.parse(since ?? ''),
        ...untilOf(until),
        button: 'End the pause',
        end: () => control(`templates/${id}`, { status: 'APPROVED' }),
      }),
    ),
    ...businesses.flatMap(portfolioHolds),
  ];
  return holds.toSorted((one, other) => other.sinceMs - one.sinceMs);
}

function nodeHold({ path, name }: { readonly path: string; readonly name: unknown }) {
  return ({ code, since, expires_at: until, later }: HoldView): HoldInForce => {
    const { reason = String(code), stops = allMessages } = holdWords[code] ?? {};
    return {
      key: `${path} ${code}`,
      ...{ node: path, code: String(code) },
      title: `${name}: ${reason}${typeof code === 'number' ? ` (${code})` : ''}`,
      stops: later === true ? 'Its messages are accepted, and fail later.' : stops,
      sinceMs: Date.parse(since),
      ...untilOf(until),
      button: 'Remove the hold',
      end: () => call('DELETE', `/_control/${path}/holds?code=${code}`),
    };
  };
}

function portfolioHolds({ id, name, pacing }: Overview['businesses'][number]): readonly HoldInForce[] {
  const { since, accepts = 0, held = 0, ends_at: until, review_code: code, review_since: reviewSince } = pacing ?? {};
  const path = `businesses/${id}/pacing`;
  return [
    ...(since === undefined
      ? []
      : [
          {
            key: `${path} paced`,
            node: `businesses/${id}`,
            title: `${name}: sending is paced`,
            stops: `${counted(accepts, 'more message is', 'more messages are')} delivered, later ones are held. ${held.toLocaleString('en')} held now.`,
            sinceMs: Date.parse(since),
            ...untilOf(until),
            button: 'Release the messages',
            end: () => control(`${path}/outcome`, { outcome: 'released' }),
          },
        ]),
    ...(reviewSince === undefined
      ? []
      : [
          {
            key: `${path} reviewed`,
            ...{ node: `businesses/${id}`, code: String(code) },
            title: `${name}: under review (${code})`,
            stops: 'It may neither send nor create templates.',
            sinceMs: Date.parse(reviewSince),
            button: 'End the review',
            end: () => call('DELETE', `/_control/${path}`),
          },
        ]),
  ];
}
