import { readMultipart } from '../../lib/http/multipart.ts';
import { Refusal } from '../../lib/http/refusal.ts';
import { filePart, formBody, formEvent, templatePart } from './multipart.ts';

/*
 * Reads forms with damaged bytes, as a process of its own, so that an error that nobody catches ends it. The argument is
 * the number of mutations; prints how many were read and how many refused with which status.
 */

/** Numbers from 0 to below `limit`, the same in every run. */
function seededNumbers(seed: number): (limit: number) => number {
  let state = seed;
  return (limit) => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return Math.floor((state / 2 ** 32) * limit);
  };
}

const below = seededNumbers(20_261_120);
const boundary = 'Boundary_7.x';
const whole = formBody([templatePart, filePart], boundary);
// Bytes that mean something to a parser come more often than chance would have it.
const telling = Buffer.from('\r\n-;="\\:\0');

function mutated(): Buffer {
  const body = Buffer.from(whole);
  for (let edits = 1 + below(4); edits > 0; edits -= 1) {
    body[below(body.byteLength)] = below(2) === 0 ? below(256) : (telling[below(telling.byteLength)] ?? 0);
  }
  const from = below(body.byteLength);
  const to = from + below(body.byteLength - from);
  const kinds = [
    () => body,
    () => body.subarray(0, from),
    () => Buffer.concat([body.subarray(0, from), body.subarray(to)]),
    () => Buffer.concat([body.subarray(0, to), body.subarray(from)]),
  ];
  return kinds[below(kinds.length)]?.() ?? body;
}

const outcomes: Record<string, number> = {};
for (let left = Number(process.argv[2]); left > 0; left -= 1) {
  let outcome = 'read';
  try {
    readMultipart(formEvent(mutated(), `multipart/form-data; boundary=${boundary}`));
  } catch (error) {
    if (!(error instanceof Refusal)) throw error;
    outcome = String(error.status);
  }
  outcomes[outcome] = (outcomes[outcome] ?? 0) + 1;
  // Lets what was raised outside of the call come up.
  if (left % 100 === 0) await new Promise((resolve) => setImmediate(resolve));
}
process.stdout.write(JSON.stringify(outcomes));
