import { ChannelCampaignsAddAnswer } from '../../../functions/channel-campaigns-add.ts';
import { ChannelCampaignsGroupedAnswer } from '../../../functions/channel-campaigns-grouped.ts';
import { ChannelCampaignsRemoveAnswer } from '../../../functions/channel-campaigns-remove.ts';
import { ChannelCampaignsReplaceAnswer } from '../../../functions/channel-campaigns-replace.ts';
import {
  ChannelCampaignsBody,
  PairQuery,
  TemplatePath,
  TemplateQuery,
} from '../../../lib/templates/assignments/assignment-request.ts';
import { demo, demoTemplateId, groupedExample } from '../examples.ts';
import type { Operations } from '../operation.ts';
import { ofBodies, ofCallers, ofClients } from '../refusals.ts';

const messageTemplateId = demoTemplateId('order_update');
const asked = { path: TemplatePath, query: TemplateQuery } as const;
const refusals = [...ofCallers, ...ofClients, 'template_not_found'] as const;
const ofViews = [...refusals, 'agent_without_campaigns'] as const;
const pairs = { channel_campaigns: [{ channel_id: demo.channelId, campaign_id: demo.campaignId }] } as const;
const channels = groupedExample.channels.map((channel) => ({ ...channel, waba_id: demo.wabaId }));

export const assignments: Operations = {
  'channel-campaigns-add': {
    tag: 'Assignments',
    summary: 'Assign a template',
    description: 'Assigns a template to more pairs of channel and campaign.',
    ...asked,
    body: { schema: ChannelCampaignsBody, optional: true },
    answers: { 201: { description: 'The _id of each given pair.', schema: ChannelCampaignsAddAnswer } },
    refusals: [...refusals, ...ofBodies],
    examples: {
      pair: {
        summary: 'One pair',
        parameters: { messageTemplateId },
        body: pairs,
        status: 201,
        answer: { ids: [messageTemplateId], success: true },
      },
    },
  },
  'channel-campaigns-grouped': {
    tag: 'Assignments',
    summary: 'Read the assignments',
    description:
      'The campaigns and channels that a template is assigned to, without the placeholder. Without BSP_CN those of the campaigns of the user.',
    ...asked,
    answers: { 200: { description: 'The groups, without a wrapper.', schema: ChannelCampaignsGroupedAnswer } },
    refusals: ofViews,
    examples: {
      groups: {
        summary: 'By the id of the template',
        parameters: { messageTemplateId },
        status: 200,
        answer: [{ ...groupedExample, channels }],
      },
    },
  },
  'channel-campaigns-replace': {
    tag: 'Assignments',
    summary: 'Replace the assignments',
    description:
      'Makes the assignments exactly the given ones; without a list nothing changes, an empty one removes all. Without BSP_CN this concerns the campaigns of the user: assignments to others stay.',
    ...asked,
    body: { schema: ChannelCampaignsBody, optional: true },
    answers: { 200: { description: 'Done.', schema: ChannelCampaignsReplaceAnswer } },
    refusals: [...ofViews, ...ofBodies],
    examples: {
      pair: {
        summary: 'One pair',
        parameters: { messageTemplateId },
        body: pairs,
        status: 200,
        answer: { ids: null, success: true },
      },
    },
  },
  'channel-campaigns-remove': {
    tag: 'Assignments',
    summary: 'Remove the assignments',
    description:
      'Removes all assignments of the client, or the one that channel_id and campaign_id name together. The placeholder is left with the last; other clients keep theirs. Without BSP_CN this concerns the campaigns of the user. A body that says anything is refused.',
    ...asked,
    query: PairQuery,
    answers: { 200: { description: 'Done.', schema: ChannelCampaignsRemoveAnswer } },
    refusals: [...ofViews, ...ofBodies, 'campaign_forbidden'],
    examples: {
      all: {
        summary: 'All of them',
        parameters: { messageTemplateId },
        status: 200,
        answer: { ids: null, success: true },
      },
      pair: {
        summary: 'One pair',
        parameters: { messageTemplateId, channel_id: demo.channelId, campaign_id: demo.campaignId },
        status: 200,
        answer: { ids: null, success: true },
      },
    },
  },
};
