import * as v from 'valibot';

const TextSchema = v.pipe(v.string(), v.nonEmpty('must not be empty'), v.maxLength(4_096));
const IdSchema = v.optional(v.pipe(v.string(), v.maxLength(1_000)));

/** A person's reply has at most one of payload, ids and flow; otherwise it is a plain text. */
export const ReplySchema = v.pipe(
  v.strictObject({
    text: TextSchema,
    /** A tapped quick reply of a template has this payload; the text is its label. */
    payload: IdSchema,
    /** The person chose this button or row of an interactive message; the text is its title. */
    button_id: IdSchema,
    list_id: IdSchema,
    description: IdSchema,
    /** A FLOW button's form has these answers. */
    flow: v.optional(v.looseObject({})),
    /** The reply names the message that it answers. */
    has_context: v.optional(v.boolean(), true),
  }),
  v.forward(
    v.check(
      ({ payload, button_id, list_id, flow }) =>
        [payload, button_id, list_id, flow].filter((each) => each !== undefined).length <= 1,
      'comes alone: a reply is one of payload, button_id, list_id and flow',
    ),
    ['payload'],
  ),
);

export type PersonsReply = v.InferOutput<typeof ReplySchema>;

/** Returns the fields of the incoming message that depend on the kind of reply (platform reference, 10.5). */
export function contentOfReply(reply: PersonsReply): object {
  const { text, payload, button_id: buttonId, list_id: listId, description, flow } = reply;
  if (payload !== undefined) return { type: 'button', button: { text, payload } };
  if (buttonId !== undefined) return interactive('button_reply', { id: buttonId, title: text });
  if (listId !== undefined) {
    return interactive('list_reply', {
      ...{ id: listId, title: text, description },
    });
  }
  // A flow's answer is JSON within a string.
  if (flow !== undefined) {
    return interactive('nfm_reply', { name: 'flow', body: text, response_json: JSON.stringify(flow) });
  }
  return { type: 'text', text: { body: text } };
}

export function kindOf({ payload, button_id: buttonId, list_id: listId, flow }: PersonsReply) {
  if (payload !== undefined) return 'quick_reply';
  if (buttonId !== undefined || listId !== undefined) return 'choice';
  return flow === undefined ? 'text' : 'form';
}

function interactive(type: string, answer: object): object {
  return { type: 'interactive', interactive: { type, [type]: answer } };
}
