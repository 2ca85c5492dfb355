import {
  TemplatesCreateAnswer,
  TemplatesCreatePath,
  TemplatesCreateQuery,
} from '../../../functions/templates-create.ts';
import {
  TemplatesDeleteAnswer,
  TemplatesDeletePath,
  TemplatesDeleteQuery,
} from '../../../functions/templates-delete.ts';
import { TemplatesEditAnswer, TemplatesEditPath, TemplatesEditQuery } from '../../../functions/templates-edit.ts';
import { TemplatesGetAnswer } from '../../../functions/templates-get.ts';
import { TemplatesListAnswer, TemplatesListQuery } from '../../../functions/templates-list.ts';
import {
  TemplatesStatusAnswer,
  TemplatesStatusBody,
  TemplatesStatusQuery,
} from '../../../functions/templates-status.ts';
import { TemplatesSyncAnswer, TemplatesSyncBody, TemplatesSyncQuery } from '../../../functions/templates-sync.ts';
import { TemplatePath, TemplateQuery } from '../../../lib/templates/assignments/assignment-request.ts';
import { TemplatesCreateBody } from '../../../lib/templates/create/create-request.ts';
import { TemplatesEditBody } from '../../../lib/templates/edit/edit-request.ts';
import { demo, demoTemplateId, templateExample } from '../examples.ts';
import type { Operations } from '../operation.ts';
import { ofBodies, ofCallers, ofClients, ofPlatform } from '../refusals.ts';

const { did } = demo;
const messageTemplateId = demoTemplateId('order_update');
const createdId = demoTemplateId('order_ready');
const ofWriters = [...ofCallers, ...ofClients, ...ofPlatform, 'did_forbidden'] as const;
const components = [{ type: 'BODY', text: 'Your order is ready to be picked up.' }] as const;

const picture = { type: 'HEADER', format: 'IMAGE' } as const;
const ofForm = (call: string, part: string) =>
  `curl ${call} -H "Authorization: Bearer $TOKEN" -F 'template=@template.json;type=application/json' -F 'file=@header.png;type=image/png'. The part template is ${part}, as a file or as text; the part file is the media of the HEADER, which names no other source.`;

const createForm = {
  name: 'CreateTemplateForm',
  example: {
    summary: 'A picture in the header',
    description: ofForm(`$API/v1/templates/${did}`, 'the body of a creation'),
    template: { name: 'order_shown', language: 'en_US', category: 'UTILITY', components: [picture, ...components] },
  },
} as const;

const editForm = {
  name: 'EditTemplateForm',
  example: {
    summary: 'Another picture in the header',
    description: ofForm(`-X PUT $API/v1/templates/${did}/${createdId}`, 'the body of an edit'),
    template: { components: [picture, ...components] },
  },
} as const;

export const templates: Operations = {
  'templates-list': {
    tag: 'Templates',
    summary: 'List templates',
    description:
      'One entry for each template, with its campaigns and channels, sorted by name, language and id. Without BSP_CN it shows what is in the campaigns of the user: it is empty as long as every template is Unassigned. Ask for those with campaign_name=Unassigned.',
    query: TemplatesListQuery,
    answers: {
      200: {
        description: 'A page, and the total.',
        schema: TemplatesListAnswer,
        links: {
          first: {
            operationId: 'templates-get',
            description: 'The first of the page, with what sending it takes; the others alike.',
            parameters: { didOrMessageTemplateId: '$response.body#/data/0/id' },
          },
        },
      },
    },
    refusals: [...ofCallers, ...ofClients, 'client_id_required', 'agent_without_campaigns'],
    examples: {
      fields: {
        summary: 'Some fields of approved templates without an assignment',
        parameters: { state: ['APPROVED'], campaign_name: 'Unassigned', fields: ['id', 'active'], size: 1 },
        status: 200,
        answer: { data: [{ id: messageTemplateId, active: true }], total: 12, page: 1, pageSize: 1, paging: null },
      },
    },
  },
  'templates-get': {
    tag: 'Templates',
    summary: 'Read one template',
    description:
      'The entry of the listing, and what sending the template takes. An unassigned template is shown as well; without BSP_CN one that has only campaigns of others is not.',
    path: TemplatePath,
    query: TemplateQuery,
    answers: { 200: { description: 'The template.', schema: TemplatesGetAnswer } },
    refusals: [...ofCallers, ...ofClients, 'template_not_found', 'agent_without_campaigns'],
    examples: {
      one: {
        summary: 'By its id',
        parameters: { messageTemplateId },
        status: 200,
        answer: {
          ...templateExample,
          parameters: {
            params: {
              body: {
                count: 2,
                fixed_length: 34,
                max_length: 1024,
                values: [
                  { appears: 1, example: 'Ana' },
                  { appears: 1, example: 'A-1042' },
                ],
              },
              buttons: [{ index: 0, kind: 'url', fixed_length: 33, max_length: 2000, example: 'A-1042' }],
            },
            component: {},
          },
          sendable: { can: true },
        },
      },
    },
  },
  'templates-create': {
    tag: 'Templates',
    summary: 'Create a template',
    description:
      'Creates a template on the WABA of the DID, for every client of the WABA. Header media come by header_source, by header_handle, or in a form as part file.',
    path: TemplatesCreatePath,
    query: TemplatesCreateQuery,
    body: { schema: TemplatesCreateBody, form: createForm },
    answers: {
      200: {
        description: 'What the platform says of it.',
        schema: TemplatesCreateAnswer,
        headers: ['Template-Warning'],
        links: {
          read: {
            operationId: 'templates-list',
            description:
              'The template as it is listed, where it was created without channel_campaigns; data[0].id is what other routes name it by.',
            parameters: { template_platform_id: '$response.body#/id', campaign_name: 'Unassigned' },
          },
        },
      },
    },
    refusals: [...ofWriters, ...ofBodies],
    examples: {
      text: {
        summary: 'A body of text',
        parameters: { did },
        body: { name: 'order_ready', language: 'en_US', category: 'UTILITY', components },
        status: 200,
        answer: { id: '1627019861106475', status: 'PENDING', category: 'UTILITY' },
      },
    },
  },
  'templates-edit': {
    tag: 'Templates',
    summary: 'Edit a template',
    description:
      'Replaces the components of a template when anything really differs. name and language are read and stay as they are.',
    path: TemplatesEditPath,
    query: TemplatesEditQuery,
    body: { schema: TemplatesEditBody, form: editForm },
    answers: {
      200: {
        description: 'Edited, or nothing differs.',
        schema: TemplatesEditAnswer,
        headers: ['Template-Warning'],
      },
    },
    refusals: [...ofWriters, ...ofBodies, 'template_not_found', 'template_disabled'],
    examples: {
      text: {
        summary: 'Another text',
        parameters: { did, messageTemplateId: createdId },
        body: { components: [{ type: 'BODY', text: 'Your order is ready.' }] },
        status: 200,
        answer: { success: true, changed: true },
      },
    },
  },
  'templates-delete': {
    tag: 'Templates',
    summary: 'Delete a template',
    description: 'Deletes the template for every client of its WABA.',
    path: TemplatesDeletePath,
    query: TemplatesDeleteQuery,
    answers: { 200: { description: 'Deleted.', schema: TemplatesDeleteAnswer } },
    refusals: [...ofWriters, 'template_not_found', 'template_disabled'],
    examples: {
      one: {
        summary: 'By its id',
        parameters: { did, messageTemplateId: createdId },
        status: 200,
        answer: { success: true },
      },
    },
  },
  'templates-status': {
    tag: 'Templates',
    summary: 'Switch templates on and off',
    description: 'Up to 1,000 templates, each item answered by itself: 200 also where some were not carried out.',
    query: TemplatesStatusQuery,
    body: { schema: TemplatesStatusBody },
    answers: { 200: { description: 'What became of each item.', schema: TemplatesStatusAnswer } },
    refusals: [...ofCallers, ...ofClients, ...ofBodies, 'agent_without_campaigns'],
    examples: {
      disable: {
        summary: 'Switch one off that is not there',
        body: { action: 'disable', templates: ['gone'] },
        status: 200,
        answer: {
          results: [{ id: 'gone', action: 'disable', success: false, skipped: false, reason: 'not_found' }],
          summary: { total: 1, succeeded: 0, skipped: 0, failed: 1 },
        },
      },
    },
  },
  'templates-sync': {
    tag: 'Templates',
    summary: 'Synchronize with the platform',
    description:
      'Starts reading the templates of the client from the platform. The event sync.completed tells its end.',
    query: TemplatesSyncQuery,
    body: { schema: TemplatesSyncBody, optional: true },
    answers: { 200: { description: 'It has started.', schema: TemplatesSyncAnswer } },
    refusals: [...ofCallers, ...ofClients, ...ofBodies, ...ofPlatform, 'sync_in_progress', 'dispatch_unavailable'],
    examples: {
      own: {
        summary: 'The own client',
        body: {},
        status: 200,
        answer: { status: 'started', message: 'the synchronization has started', clientId: demo.clientId },
      },
    },
  },
};
