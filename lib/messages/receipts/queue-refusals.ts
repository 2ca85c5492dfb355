import { messageIdOf } from '../dispatch/head.ts';
import { type InboundMessage, recipientsAmong } from '../inbound/inbound-message.ts';
import { canonicalAddress } from '../request/recipient-address.ts';
import { marketingRefusedCode } from '../send/inbound-of-endings.ts';
import type { ReceiptPorts, ReceiptsOfDispatch } from './receipt-ports.ts';

/**
 * Queues refusals of marketing (D55): the platform takes the message and sends receipt 131050. All ids, from client and
 * receipt, name one person. Throws when queueing may have failed.
 */
export async function queueRefusals(
  dispatches: readonly ReceiptsOfDispatch[],
  { addressesOf, inbound, nowMs }: Pick<ReceiptPorts, 'addressesOf' | 'inbound' | 'nowMs'>,
): Promise<void> {
  const refused = dispatches
    .filter(({ head }) => head.heedsOptOuts)
    .flatMap(({ head, receipts }) =>
      receipts.flatMap((receipt) =>
        receipt.status === 'failed' && receipt.code === marketingRefusedCode ? [{ head, receipt }] : [],
      ),
    );
  if (refused.length === 0) return;
  const addresses = await addressesOf(refused.map(({ receipt }) => receipt));
  const messages = refused.flatMap(({ head: { wabaId, phoneNumberId, clientId }, receipt }) => {
    const { userId, waId } = receipt;
    const to = addresses.get(messageIdOf(receipt));
    const recipients = recipientsAmong([to === undefined ? undefined : canonicalAddress(to), userId, waId]);
    // A time of the platform in the future becomes now.
    const atMs = Math.min(receipt.atMs, nowMs());
    const word = { kind: 'refused', clientId, recipients, atMs } as const;
    return recipients.length === 0 ? [] : [{ wabaId, phoneNumberId, words: [word] }];
  });
  await inbound.send(together(messages));
}

type Words = Omit<InboundMessage, 'version'>;

function together(messages: readonly Words[]): Words[] {
  const byNumber = Map.groupBy(messages, ({ wabaId, phoneNumberId }) => `${wabaId} ${phoneNumberId}`);
  return [...byNumber.values()].flatMap((some) => {
    const [first] = some;
    return first === undefined ? [] : [{ ...first, words: some.flatMap(({ words }) => words) }];
  });
}
