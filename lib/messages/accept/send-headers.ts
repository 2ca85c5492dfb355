import * as v from 'valibot';
import { MessagesSendHeaders } from '../request/send-request.ts';
import { SendTimeHeaders } from '../when/send-time.ts';

/** A send or retry takes headers for idempotency, rehearsal, limits and time (D9, D51, D56, D58). */
export const SendHeaders = v.object({ ...MessagesSendHeaders.entries, ...SendTimeHeaders.entries });
