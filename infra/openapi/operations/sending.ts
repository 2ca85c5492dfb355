import { DispatchesListAnswer, DispatchesListPath, DispatchesListQuery } from '../../../functions/dispatches-list.ts';
import { MessagesCancelAnswer, MessagesCancelPath, MessagesCancelQuery } from '../../../functions/messages-cancel.ts';
import { MessagesReportAnswer, MessagesReportPath, MessagesReportQuery } from '../../../functions/messages-report.ts';
import { MessagesRetryPath, MessagesRetryQuery } from '../../../functions/messages-retry.ts';
import { MessagesSendPath, MessagesSendQuery } from '../../../functions/messages-send.ts';
import { MessagesSendBody, MessagesSendHeaders } from '../../../lib/messages/request/send-request.ts';
import { MessagesRetryBody } from '../../../lib/messages/retry/retry-request.ts';
import { demo, dispatchExample } from '../examples.ts';
import { SendAnswer } from '../named-schemas.ts';
import type { Operations } from '../operation.ts';
import { ofBodies, ofCallers, ofClients, ofPlatform } from '../refusals.ts';

const { did, dispatchId } = demo;
const ofDids = [...ofCallers, ...ofClients, 'did_forbidden'] as const;
/** Of what accepts a dispatch. */
const ofAcceptance = [
  'template_not_found',
  'template_not_sendable',
  'idempotency_key_reused',
  'request_in_progress',
  'dispatch_unavailable',
  'dispatch_undecided',
] as const;
const template = { name: 'order_update', language: 'en_US' } as const;
const order = { did, type: 'template', channel: 'MESSAGING', template } as const;
const { template: _, client_id: __, counts: ___, complete: ____, did: _____, ...listed } = dispatchExample;

export const sending: Operations = {
  'messages-send': {
    tag: 'Sending',
    summary: 'Send a template',
    description:
      'Sends an approved template to 1 to 10,000 recipients: all of them are accepted or none. What a recipient must carry is in parameters of the template.',
    path: MessagesSendPath,
    query: MessagesSendQuery,
    headers: MessagesSendHeaders,
    body: { schema: MessagesSendBody },
    answers: {
      200: {
        description: 'Accepted, or rehearsed. warning tells what is worth a look.',
        schema: SendAnswer,
        headers: ['Dispatch-Id'],
        links: {
          report: {
            operationId: 'messages-report',
            description: 'What becomes of every recipient. A rehearsal has no dispatch.',
            parameters: { did: '$request.path.did', dispatchId: '$response.header.Dispatch-Id' },
          },
        },
      },
    },
    refusals: [
      ...ofDids,
      ...ofBodies,
      ...ofPlatform,
      ...ofAcceptance,
      ...(['did_mismatch', 'invalid_recipients'] as const),
    ],
    examples: {
      values: {
        summary: 'Two recipients, each with values of its own',
        parameters: { did, 'Idempotency-Key': 'order-1042' },
        body: {
          ...order,
          recipients: [
            { to: '5491155550001', params: { body: ['Ana', 'A-1042'], buttons: ['A-1042'] } },
            { to: '5491155550002', params: { body: ['Luis', 'A-1043'], buttons: ['A-1043'] } },
          ],
        },
        status: 200,
        answer: { success: true },
      },
    },
  },
  'dispatches-list': {
    tag: 'Sending',
    summary: 'List dispatches',
    description:
      'The dispatches of the client on a DID of the last 30 days, newest first, also on one that was taken away since.',
    path: DispatchesListPath,
    query: DispatchesListQuery,
    answers: { 200: { description: 'A page; only the last has no after.', schema: DispatchesListAnswer } },
    refusals: ofDids,
    examples: {
      newest: {
        summary: 'The newest',
        parameters: { did, limit: 1 },
        status: 200,
        answer: { data: [{ ...listed, template }], paging: { cursors: { after: 'cGxhY2U' } } },
      },
    },
  },
  'messages-report': {
    tag: 'Sending',
    summary: 'Read the report of a dispatch',
    description:
      'What became of every recipient of a dispatch, from its acceptance on and for 30 days, whatever becomes of the DID.',
    path: MessagesReportPath,
    query: MessagesReportQuery,
    answers: { 200: { description: 'A page; only the last has no after.', schema: MessagesReportAnswer } },
    refusals: [...ofCallers, ...ofClients, 'dispatch_not_found'],
    examples: {
      first: {
        summary: 'The first row',
        parameters: { did, dispatchId, limit: 1 },
        status: 200,
        answer: {
          ...dispatchExample,
          data: [{ index: 0, to: '5491155550001', state: 'pending' }],
          paging: { cursors: { after: 'cGxhY2U' } },
        },
      },
    },
  },
  'messages-cancel': {
    tag: 'Sending',
    summary: 'Cancel a dispatch',
    description: 'What no worker has taken up is never sent. Repeating it changes nothing more.',
    path: MessagesCancelPath,
    query: MessagesCancelQuery,
    answers: { 200: { description: 'Where the dispatch stands now.', schema: MessagesCancelAnswer } },
    refusals: [...ofCallers, ...ofClients, 'dispatch_not_found'],
    examples: {
      cancelled: { summary: 'All that is left', parameters: { did, dispatchId }, status: 200, answer: dispatchExample },
    },
  },
  'messages-retry': {
    tag: 'Sending',
    summary: 'Retry a dispatch',
    description:
      'A new dispatch of the recipients that ended failed or expired for a cause that may pass, with the parameters that they had. Nobody is in two retries.',
    path: MessagesRetryPath,
    query: MessagesRetryQuery,
    headers: MessagesSendHeaders,
    body: { schema: MessagesRetryBody, optional: true },
    answers: {
      200: {
        description: 'Accepted, or rehearsed. warning tells what is worth a look.',
        schema: SendAnswer,
        headers: ['Dispatch-Id'],
        links: {
          report: {
            operationId: 'messages-report',
            description: 'What becomes of those who are retried. A rehearsal has no dispatch.',
            parameters: { did: '$request.path.did', dispatchId: '$response.header.Dispatch-Id' },
          },
        },
      },
    },
    refusals: [
      ...ofDids,
      ...ofBodies,
      ...ofPlatform,
      ...ofAcceptance,
      ...(['dispatch_not_found', 'not_retryable', 'nothing_to_retry'] as const),
    ],
    examples: {
      named: {
        summary: 'Those with some codes alone',
        parameters: { did, dispatchId },
        body: { codes: ['expired', '131026'] },
        status: 200,
        answer: { success: true },
      },
    },
  },
};
