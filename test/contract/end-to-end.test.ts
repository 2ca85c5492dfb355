import { beforeAll, describe, expect, test } from 'vitest';
import { type ApiReply, as, type DemoUser, platform, synchronize } from '../support/api.ts';
import { endingsOf, outcomesOn, runningTarget } from '../support/running-target.ts';
import { thorough } from '../support/thorough.ts';

const outcomes = outcomesOn(runningTarget());

beforeAll(async () => {
  await synchronize('supervisor1001');
});

interface Campaign {
  readonly user: DemoUser;
  readonly did: string;
  readonly phoneNumberId: string;
  readonly recipients: readonly { readonly to: string; readonly params: { body: string[]; buttons: string[] } }[];
}

/** Returns recipients that no other test writes to, each with values of its own. */
function recipientsFrom(first: number, count: number): Campaign['recipients'] {
  return Array.from({ length: count }, (_, index) => {
    const to = String(first + index);
    return { to, params: { body: [`Señora ${to} 🙂`, `A-${index}`], buttons: [`${to}/é`] } };
  });
}

const accept = ({ user, did, recipients }: Campaign) =>
  as(user, `POST /v1/template/messages/${did}`, {
    ...{ did, type: 'template', channel: 'MESSAGING', recipients },
    template: { name: 'order_update', language: 'en_US' },
  });

/** Returns the platform's messages to recipients with this prefix, by recipient. */
async function taken(prefix: string): Promise<Map<string, Record<string, unknown>[]>> {
  const { body } = await platform('GET /_control/messages?template=order_update&limit=1000000');
  const messages = body.data.filter(({ to }: { to: string }) => to.startsWith(prefix));
  return Map.groupBy(messages as (Record<string, unknown> & { to: string })[], ({ to }) => to);
}

function requestTo(to: string, { body }: { readonly body: readonly string[] }, messageId: string) {
  return {
    messaging_product: 'whatsapp',
    recipient_type: 'individual',
    to,
    type: 'template',
    template: {
      name: 'order_update',
      language: { code: 'en_US' },
      components: [
        { type: 'body', parameters: body.map((text) => ({ type: 'text', text })) },
        {
          type: 'button',
          sub_type: 'url',
          index: 0,
          parameters: [{ type: 'text', text: `${to}/%C3%A9` }],
        },
      ],
    },
    biz_opaque_callback_data: messageId,
  };
}

async function expectDelivered(campaign: Campaign, reply: ApiReply, prefix: string): Promise<void> {
  expect([reply.status, reply.text]).toEqual([200, '{"success":true}']);
  const dispatchId = reply.headers.get('dispatch-id') ?? '';
  const endings = await endingsOf(outcomes, dispatchId, 120_000);
  expect(endings.map(({ to, state }) => `${to} ${state}`)).toEqual(campaign.recipients.map(({ to }) => `${to} sent`));

  const messages = await taken(prefix);
  expect(messages.size).toBe(campaign.recipients.length);
  for (const [index, { to, params }] of campaign.recipients.entries()) {
    expect(messages.get(to)).toEqual([
      {
        id: endings[index]?.platformMessageId,
        to,
        phone_number_id: campaign.phoneNumberId,
        path: expect.stringMatching(new RegExp(`^/v\\d+\\.\\d+/${campaign.phoneNumberId}/messages$`)),
        received_at: expect.any(String),
        request: requestTo(to, params, `${dispatchId}-${index}`),
      },
    ]);
  }
}

/** The dispatch takes several waves. */
const largest = thorough ? 1_000 : 150;
const andes = { user: 'supervisor1001', did: '5491100000001', phoneNumberId: '300000000000001' } as const;
const boreal = { user: 'supervisor1002', did: '5491100000002', phoneNumberId: '300000000000002' } as const;

describe('one request, every recipient exactly once, with the own values (R13, R14)', { timeout: 150_000 }, () => {
  test('two clients at once, from their own numbers', async () => {
    const first = { ...andes, recipients: recipientsFrom(598_620_000_000, largest) };
    const second = { ...boreal, recipients: recipientsFrom(598_630_000_000, 150) };
    const [one, two] = await Promise.all([accept(first), accept(second)]);
    await expectDelivered(first, one, '59862');
    await expectDelivered(second, two, '59863');
  });

  test('one fault among 1,000 recipients: nothing is sent', async () => {
    const recipients = recipientsFrom(598_660_000_000, 1_000).map((recipient, index) =>
      index === 999 ? { ...recipient, params: { body: ['Ana'], buttons: ['x'] } } : recipient,
    );
    const reply = await accept({ ...andes, recipients });
    expect(reply).toMatchObject({ status: 400, body: { errors: [{ path: 'recipients[999].params.body' }] } });
    const campaign = { ...andes, recipients: recipientsFrom(598_670_000_000, 1) };
    await expectDelivered(campaign, await accept(campaign), '59867');
    expect((await taken('59866')).size).toBe(0);
  });
});
