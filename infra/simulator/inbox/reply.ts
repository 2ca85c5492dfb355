import * as v from 'valibot';

const TextSchema = v.pipe(v.string(), v.nonEmpty('must not be empty'), v.maxLength(4_096));
const IdSchema = v.optional(v.pipe(v.string(), v.maxLength(1_000)));

/** How a person may answer a message: at most one of the ids or the answer of a flow; without any, by a text. */
export const ReplySchema = v.pipe(
  v.strictObject({
    text: TextSchema,
    /** A quick reply of a template was pressed, whose label is the text. */
    payload: IdSchema,
    /** A button or a row of an interactive message was chosen, whose title is the text. */
    button_id: IdSchema,
    list_id: IdSchema,
    description: IdSchema,
    /** What was filled into the form behind a FLOW button. */
    flow: v.optional(v.looseObject({})),
    /** Whether the message that it answers is named. */
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

/** What of an incoming message depends on how the person has answered (platform reference, 10.5). */
export function contentOfReply(reply: PersonsReply): object {
  const { text, payload, button_id: buttonId, list_id: listId, description, flow } = reply;
  if (payload !== undefined) return { type: 'button', button: { text, payload } };
  if (buttonId !== undefined) return interactive('button_reply', { id: buttonId, title: text });
  if (listId !== undefined) {
    return interactive('list_reply', {
      ...{ id: listId, title: text },
      ...(description === undefined ? {} : { description }),
    });
  }
  // The answer of a flow is JSON inside of a text.
  if (flow !== undefined) {
    return interactive('nfm_reply', { name: 'flow', body: text, response_json: JSON.stringify(flow) });
  }
  return { type: 'text', text: { body: text } };
}

/** In which of the ways it answers. */
export function kindOf({ payload, button_id: buttonId, list_id: listId, flow }: PersonsReply) {
  if (payload !== undefined) return 'quick_reply';
  if (buttonId !== undefined || listId !== undefined) return 'choice';
  return flow === undefined ? 'text' : 'form';
}

function interactive(type: string, answer: object): object {
  return { type: 'interactive', interactive: { type, [type]: answer } };
}
