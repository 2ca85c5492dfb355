import * as v from 'valibot';
import { ControlError } from '../control-error.ts';
import { type ControlRoute, givenParameters } from '../control-route.ts';
import { recipientKey } from '../faults.ts';
import { refusedKept } from '../refused-log.ts';
import type { World } from '../state.ts';
import { addStatus, messageOf, replyTo, tapButton, writeTo } from './inbox-actions.ts';
import { detailOf, rowOf } from './inbox-list.ts';
import { changeIdentity, changePreference, changeRecipient, changeThread } from './person-actions.ts';
import { refusedDetail, refusedRow } from './refused-list.ts';

const WholeSchema = v.pipe(v.string(), v.regex(/^\d{1,9}$/, 'must be a whole number'), v.transform(Number));
const InboxQuerySchema = v.strictObject({
  before: v.optional(WholeSchema),
  limit: v.optional(v.pipe(WholeSchema, v.maxValue(2_000)), '200'),
});

export const inboxRoutes: readonly ControlRoute[] = [
  {
    method: 'GET',
    path: '/_control/inbox',
    what: `accepted messages and refused sends as rows of a list, newest first: ?before=PLACE&limit= (limit 200 by default, 2000 at most); of those refused the newest ${refusedKept.other} are kept, of throttled ones ${refusedKept.throttled}; total: those kept, dropped: how many are not, of which kind, and since when they are`,
    run: ({ world: { messages } }, { query }) => {
      const { before = messages.places + 1, limit } = v.parse(InboxQuerySchema, givenParameters(query));
      return {
        total: messages.total + messages.refused.kept,
        dropped: messages.refused.dropped().map(({ kind, count, since }) => ({
          ...{ kind, count, since_ms: since.receivedMs, since_place: since.place },
        })),
        data: messages.before(before, limit).map((each) => ('refusal' in each ? refusedRow(each) : rowOf(each))),
      };
    },
  },
  {
    method: 'GET',
    path: '/_control/refused/{id}',
    what: 'one refused send of the inbox: the request, the reason in the words of the platform, its other tries, and the holds in force that refuse it',
    run: ({ world }, _, id) => {
      const send = world.messages.refused.get(id);
      if (send === undefined) throw new ControlError(404, 'id', `${id} is no refused send that is kept`);
      return refusedDetail(world, send);
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
      const row = addStatus(world, messageOf(world, id), body);
      await emit();
      return row;
    },
  },
  {
    method: 'POST',
    path: '/_control/messages/{id}/reply',
    what: 'have the recipient answer a message, told by webhook: {text, payload? | button_id? | list_id?, description? | flow?, has_context?}; with a payload by a quick reply of a template, with an id by a button or row of that title, with an object by the form of a flow',
    run: async ({ world, emit }, { body }, id) => {
      const row = replyTo(world, messageOf(world, id), body);
      await emit();
      return row;
    },
  },
  {
    method: 'POST',
    path: '/_control/messages/{id}/tap',
    what: 'have the recipient tap a quick reply of a message, told by webhook: {button, card?, has_context?}, places from 0; what the send has put behind the button comes back, else its label',
    run: async ({ world, emit }, { body }, id) => {
      const row = tapButton(world, messageOf(world, id), body);
      await emit();
      return row;
    },
  },
  {
    method: 'POST',
    path: '/_control/recipients/{id}',
    what: 'block the business, or no longer, and take a username: {blocked?, username?}; later messages to a person who has blocked it are sent and never delivered; the number of one with a username is told only where the business knows it; null: no username',
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
  {
    method: 'POST',
    path: '/_control/recipients/{id}/preference',
    what: 'have a person stop marketing messages of a number, resume them or sign up again, told by user_preferences: {phone_number_id, value: stop|resume|signup, answer?: failed|refused, told_in_seconds?, copies?}; those sent meanwhile fail later, or are refused at once, 131050; it counts at once, however late it is told; null: never told',
    run: told(changePreference),
  },
  {
    method: 'POST',
    path: '/_control/recipients/{id}/thread',
    what: 'give the thread of a person and a number to another responder, or release it: {phone_number_id, owner: other|none}; what the person writes comes as standby, and texts are refused, 131070; it ends by itself after 24 hours of silence',
    run: told(changeThread),
  },
  {
    method: 'POST',
    path: '/_control/recipients/{id}/identity',
    what: 'give a person another user id, and another number, told by a system message: {phone_number_id, number?, told_as?: user_changed_user_id|user_changed_number, old_id?: failed|refused, form?: 2026-08|2026-06}, in the form of that month; messages to the old ones fail later, or are refused at once, 131026',
    run: told(changeIdentity),
  },
];

/** Wraps an act of a person; the due webhooks are sent before it answers. */
function told(act: (world: World, id: string, body: unknown) => unknown): ControlRoute['run'] {
  return async ({ world, emit }, { body }, id) => {
    const answer = act(world, recipientKey(id), body);
    await emit();
    return answer;
  };
}
