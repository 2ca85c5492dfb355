import * as v from 'valibot';
import { type ControlRoute, given } from '../control-route.ts';
import { recipientKey } from '../faults.ts';
import { changeRecipient, messageOf, replyTo, tellStatus, writeTo } from './inbox-actions.ts';
import { detailOf, rowOf } from './inbox-list.ts';

const WholeSchema = v.pipe(v.string(), v.regex(/^\d{1,9}$/, 'must be a whole number'), v.transform(Number));
const InboxQuerySchema = v.strictObject({
  before: v.optional(WholeSchema),
  limit: v.optional(v.pipe(WholeSchema, v.maxValue(2_000)), '200'),
});

/** What the console's inbox asks and does. */
export const inboxRoutes: readonly ControlRoute[] = [
  {
    method: 'GET',
    path: '/_control/inbox',
    what: 'accepted messages as rows of a list, newest first: ?before=PLACE&limit= (limit 200 unless told, 2000 at most)',
    run: ({ world }, { query }) => {
      const { before = world.messages.total + 1, limit } = v.parse(InboxQuerySchema, given(query));
      return { total: world.messages.total, data: world.messages.before(before, limit).map(rowOf) };
    },
  },
  {
    method: 'GET',
    path: '/_control/messages/{id}',
    what: 'one message with its template as it was when it was sent, its statuses and its replies',
    run: ({ world }, _, id) => detailOf(world, messageOf(world, id)),
  },
  {
    method: 'POST',
    path: '/_control/messages/{id}/status',
    what: 'tell one more status of a message: {status: sent|delivered|read|failed, code?, in_seconds?}; a code for failed',
    run: async ({ world, emit }, { body }, id) => {
      const row = tellStatus(world, messageOf(world, id), body);
      await emit();
      return row;
    },
  },
  {
    method: 'POST',
    path: '/_control/messages/{id}/reply',
    what: 'have the recipient answer a message, told by webhook: {text, payload?}; with a payload by a quick reply button',
    run: async ({ world, emit }, { body }, id) => {
      const row = replyTo(world, messageOf(world, id), body);
      await emit();
      return row;
    },
  },
  {
    method: 'POST',
    path: '/_control/recipients/{id}',
    what: 'block the business, or no longer: {blocked}; later messages to whoever has blocked it are sent and never delivered',
    run: ({ world }, { body }, id) => changeRecipient(world, recipientKey(id), body),
  },
  {
    method: 'POST',
    path: '/_control/recipients/{id}/message',
    what: 'have a person write to a number, told by webhook: {phone_number_id, text}; for 24 hours texts reach them from there',
    run: async ({ world, emit }, { body }, id) => {
      const message = writeTo(world, recipientKey(id), body);
      await emit();
      return message;
    },
  },
];
