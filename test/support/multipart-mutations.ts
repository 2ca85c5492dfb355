import { readMultipart } from '../../lib/http/multipart.ts';
import { Refusal } from '../../lib/http/refusal.ts';
import { byteMutations } from './byte-mutations.ts';
import { filePart, formBody, formEvent, templatePart } from './multipart.ts';

/* This process reads damaged forms, so that an uncaught error ends it alone. Its argument is the number of mutations.
   It prints how many were read, and how many were refused with which status. */

const boundary = 'Boundary_7.x';
const whole = formBody([templatePart, filePart], boundary);

const outcomes: Record<string, number> = {};
let done = 0;
for (const body of byteMutations(whole, 20_261_120, Number(process.argv[2]))) {
  let outcome = 'read';
  try {
    await readMultipart(formEvent(body, `multipart/form-data; boundary=${boundary}`));
  } catch (error) {
    if (!(error instanceof Refusal)) throw error;
    outcome = String(error.status);
  }
  outcomes[outcome] = (outcomes[outcome] ?? 0) + 1;
  done += 1;
  // The pause lets errors from outside the call appear.
  if (done % 100 === 0) await new Promise((resolve) => setImmediate(resolve));
}
process.stdout.write(JSON.stringify(outcomes));
