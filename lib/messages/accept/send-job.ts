import { brotliCompressSync, brotliDecompressSync, constants } from 'node:zlib';
import * as v from 'valibot';
import { queueBody, queueMessageMaxBytes } from '../../aws/queue-body.ts';
import { queuedMessage } from '../../aws/queued-message.ts';
import { JobHeadSchema, type Recipient, RecipientSchema, RepeatSchema } from '../job.ts';
import { CompositionPlanSchema } from '../request/compose.ts';

/**
 * An accepted request on its way to the fan-out: one queue message, or several parts when even compressed it is larger
 * than a message may be. `firstIndex` is the index in the whole job of the first recipient of this message.
 */
const SendJobSchema = v.object({
  head: JobHeadSchema,
  plan: CompositionPlanSchema,
  firstIndex: v.number(),
  /** Only on a job in parts. A part is worked on only when the commit of the job is written (D25). */
  part: v.exactOptional(v.object({ number: v.number(), of: v.number() })),
  /** How often this message was sent anew by the fan-out, which releases a job in rounds. Absent on the first. */
  round: v.exactOptional(v.number()),
  /** How long the round before has waited for a parked job. Absent unless it has. */
  parkedSeconds: v.exactOptional(v.number()),
  recipients: v.array(RecipientSchema),
  /** Of the whole job, where some were dropped: the report counts by the places in the request (D40). */
  repeats: v.exactOptional(v.array(RepeatSchema)),
});
export type SendJob = v.InferOutput<typeof SendJobSchema>;

/** The format in which jobs are queued now (D47). */
const sendJobVersion = 1;

/** A job as acceptance knows it, before it is cut into messages. */
export type AcceptedSend = Omit<SendJob, 'firstIndex' | 'part' | 'round' | 'parkedSeconds'>;

const CompressedSchema = v.object({ brotli: v.string() });

/** A request body has at most 6 MB, and a job repeats little more than it: anything larger is not one of ours. */
const maxJobBytes = 16 * 1_048_576;

/** Quality 5 compresses a 6 MB job in a tenth of a second; the default of 11 takes ten seconds for a fifth less. */
const compression = { params: { [constants.BROTLI_PARAM_QUALITY]: 5, [constants.BROTLI_PARAM_LGWIN]: 22 } };

/** The fan-out sends each message anew with a few more characters in it, which compression may swell a little. */
const acceptedMaxBytes = queueMessageMaxBytes - 512;

/**
 * The queue messages that carry a job: one in every usual case, plain JSON up to 1 MiB and compressed above. Only when
 * that is still too large, several, each marked as a part; they count once the commit of the job is written.
 */
export function encodeSendJob(job: AcceptedSend): string[] {
  const whole = encodeJobMessage({ ...job, firstIndex: 0 });
  if (whole.length <= acceptedMaxBytes) return [whole];
  // Parts compress a little worse than the whole: ask for some room, then for one part more.
  for (let parts = Math.ceil((whole.length * 1.05) / acceptedMaxBytes); ; parts += 1) {
    const messages = encodeParts(job, parts);
    if (messages.every((message) => message.length <= acceptedMaxBytes)) return messages;
    if (messages.length === job.recipients.length) throw new RangeError('one recipient is larger than a queue message');
  }
}

function encodeParts(job: AcceptedSend, parts: number): string[] {
  const slices = slicesOfEqualSize(job.recipients, parts);
  let firstIndex = 0;
  return slices.map((recipients, position) => {
    const part = { number: position + 1, of: slices.length };
    const message = encodeJobMessage({ ...job, firstIndex, part, recipients });
    firstIndex += recipients.length;
    return message;
  });
}

/** Cuts by size, not by number: recipients may differ in size a hundredfold. */
function slicesOfEqualSize(recipients: readonly Recipient[], parts: number): Recipient[][] {
  const sizes = recipients.map((recipient) => JSON.stringify(recipient).length);
  const share = sizes.reduce((sum, size) => sum + size, 0) / parts;
  let slice: Recipient[] = [];
  const slices = [slice];
  let filled = 0;
  for (const [index, recipient] of recipients.entries()) {
    if (filled >= share) {
      slice = [];
      slices.push(slice);
      filled = 0;
    }
    slice.push(recipient);
    filled += sizes[index] ?? 0;
  }
  return slices;
}

/**
 * One message of the send-job queue: plain JSON when that fits; compressed it is ASCII, so that its length is its size. A
 * message that was accepted fits also with a round in it.
 */
export function encodeJobMessage(job: SendJob): string {
  const message = { version: sendJobVersion, ...job };
  const plain = queueBody(message);
  if (Buffer.byteLength(plain) <= acceptedMaxBytes) return plain;
  const packed = brotliCompressSync(JSON.stringify(message), compression);
  return JSON.stringify({ version: sendJobVersion, brotli: packed.toString('base64') });
}

/**
 * Reads a message of the send-job queue. Throws when it is not one that `encodeSendJob` makes, when it unpacks to more
 * than 16 MiB, and `LaterVersion`.
 */
export function decodeSendJobMessage(body: string): SendJob {
  const outer = queuedMessage(body, sendJobVersion);
  const compressed = v.safeParse(CompressedSchema, outer);
  if (!compressed.success) return v.parse(SendJobSchema, outer);
  const packed = Buffer.from(compressed.output.brotli, 'base64');
  const unpacked = brotliDecompressSync(packed, { maxOutputLength: maxJobBytes });
  return v.parse(SendJobSchema, queuedMessage(unpacked.toString('utf8'), sendJobVersion));
}
