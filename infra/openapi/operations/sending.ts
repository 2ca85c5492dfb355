import { DispatchesCancelAnswer, DispatchesCancelQuery } from '../../../functions/dispatches-cancel.ts';
import { DispatchesFindAnswer, DispatchesFindQuery } from '../../../functions/dispatches-find.ts';
import { DispatchesListAnswer, DispatchesListPath, DispatchesListQuery } from '../../../functions/dispatches-list.ts';
import { MessagesCancelAnswer, MessagesCancelPath, MessagesCancelQuery } from '../../../functions/messages-cancel.ts';
import { MessagesReportAnswer, MessagesReportPath, MessagesReportQuery } from '../../../functions/messages-report.ts';
import { MessagesRetryPath, MessagesRetryQuery } from '../../../functions/messages-retry.ts';
import { MessagesSendPath, MessagesSendQuery } from '../../../functions/messages-send.ts';
import { SendHeaders } from '../../../lib/messages/accept/send-headers.ts';
import { MessagesSendBody } from '../../../lib/messages/request/send-request.ts';
import { MessagesRetryBody } from '../../../lib/messages/retry/retry-request.ts';
import { demo, dispatchExample } from '../examples.ts';
import { SendAnswer } from '../named-schemas.ts';
import type { OperationDocument, Operations } from '../operation.ts';
import { ofBodies, ofCallers, ofClients, ofPlatform } from '../refusals.ts';

const { did, dispatchId } = demo;
const ofDids = [...ofCallers, ...ofClients, 'did_forbidden'] as const;
const ofAcceptance = [
  'template_not_found',
  'template_not_sendable',
  'over_max_cost',
  'over_budget',
  'idempotency_key_reused',
  'request_in_progress',
  'dispatch_unavailable',
  'dispatch_undecided',
] as const;
const template = { name: 'order_update', language: 'en_US' } as const;
const order = { did, type: 'template', channel: 'MESSAGING', template } as const;
const {
  template: _,
  client_id: __,
  counts: ___,
  complete: ____,
  did: _____,
  cost: ______,
  ...listed
} = dispatchExample;

const acceptance = (reported: string): OperationDocument['answers'] => ({
  200: {
    description: 'Accepted, or rehearsed. warning tells what is worth a look.',
    schema: SendAnswer,
    headers: ['Dispatch-Id'],
    links: {
      report: {
        operationId: 'messages-report',
        description: reported,
        parameters: { did: '$request.path.did', dispatchId: '$response.header.Dispatch-Id' },
      },
    },
  },
});

export const sending: Operations = {
  'messages-send': {
    tag: 'Sending',
    summary: 'Send a template',
    description:
      'Sends an approved template to 1 to 10,000 recipients: all of them are accepted or none. What a recipient must carry is in parameters of the template. Max-Cost and a budget of the client refuse what would cost more.',
    path: MessagesSendPath,
    query: MessagesSendQuery,
    headers: SendHeaders,
    body: { schema: MessagesSendBody },
    answers: acceptance('What becomes of every recipient. A rehearsal has no dispatch.'),
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
      hours: {
        summary: 'By day where the recipient is, on weekdays',
        parameters: { did, 'Send-Window': '09:00-20:00', 'Send-Days': 'mon-fri' },
        body: {
          ...order,
          recipients: [
            { to: '5491155550001', params: { body: ['Ana', 'A-1044'], buttons: ['A-1044'] } },
            { to: '5511955550002', params: { body: ['Luis', 'A-1045'], buttons: ['A-1045'] } },
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
  'dispatches-find': {
    tag: 'Sending',
    summary: 'Find dispatches',
    description:
      'The dispatches of the client on whichever DID, newest first, each with its counts, its state and what it has cost. A page may be shorter than its limit.',
    query: DispatchesFindQuery,
    answers: { 200: { description: 'A page; only the last has no after.', schema: DispatchesFindAnswer } },
    refusals: [...ofCallers, ...ofClients],
    examples: {
      newest: {
        summary: 'The newest',
        parameters: { template: template.name, limit: 1 },
        status: 200,
        answer: { data: [{ ...dispatchExample, state: 'running' }], paging: { cursors: { after: 'cGxhY2U' } } },
      },
    },
  },
  'dispatches-cancel': {
    tag: 'Sending',
    summary: 'Cancel the dispatches of a campaign',
    description:
      'Of every dispatch of the campaign that is not complete, what no worker has taken up is never sent; also of those whose time has not come. Repeat it while more is true.',
    query: DispatchesCancelQuery,
    answers: { 200: { description: 'What this request has cancelled.', schema: DispatchesCancelAnswer } },
    refusals: [...ofCallers, ...ofClients, 'campaign_forbidden'],
    examples: {
      campaign: {
        summary: 'One campaign',
        parameters: { campaign_id: demo.campaignId },
        status: 200,
        answer: { cancelled: 0, more: false },
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
    answers: {
      200: {
        description: 'A page; only the last has no after.',
        schema: MessagesReportAnswer,
        csv: 'With Accept: text/csv the rows of the page, as RFC 4180 spells them: a column for each field of a row, named by the first page. Link leads to the next page.',
        headers: ['Link'],
      },
    },
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
      'A new dispatch of the recipients that ended failed or expired for a cause that may pass, with the parameters that they had. No recipient is in two retries.',
    path: MessagesRetryPath,
    query: MessagesRetryQuery,
    headers: SendHeaders,
    body: { schema: MessagesRetryBody, optional: true },
    answers: acceptance('What becomes of those who are retried. A rehearsal has no dispatch.'),
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
