import * as v from 'valibot';
import { deployed, deployedAccess } from '../lib/access/deployed.ts';
import { askedClientId, ClientIdText, type Clients, clientEndpoint } from '../lib/access/page.ts';
import type { ChannelStore } from '../lib/channels/channel-store.ts';
import { deployedChannels } from '../lib/channels/deployed.ts';
import { listedClient, selectChannels } from '../lib/channels/listing.ts';
import { appliedFields, ChannelSchema, channelView } from '../lib/channels/view.ts';
import { answer, type Endpoint, noBody, parse, shaped, wholeNumber } from '../lib/http/page.ts';
import { fieldsFilter, flag, pageOf, pageQuery, searchFilter, sliceOf, textFilter } from '../lib/http/query.ts';

export const ChannelsListQuery = v.object({
  client_id: ClientIdText,
  wa_id: textFilter,
  waba_id: textFilter,
  status: textFilter,
  business_id: textFilter,
  business_name: searchFilter,
  q: searchFilter,
  deleted: flag('deleted'),
  ...pageQuery,
  fields: fieldsFilter,
});

export const ChannelsListAnswer = v.object({
  data: v.array(ChannelSchema),
  total: wholeNumber,
  page: wholeNumber,
  page_size: wholeNumber,
  fields: v.string(),
});

/**
 * GET /v1/client-messaging-channels: lists channels of one client or, with `BSP_CN`, of all; filtered and paged (D35).
 */
export function channelsList(ports: {
  readonly directory: Clients;
  readonly channels: Pick<ChannelStore, 'channelsOf'>;
  readonly nowMs: () => number;
}): Endpoint {
  return clientEndpoint(ports, { body: noBody, query: ChannelsListQuery }, async (event) => {
    const { caller } = event;

    const query = parse(ChannelsListQuery, event.queryStringParameters ?? {});
    const page = pageOf(query);
    const fields = appliedFields(query.fields);
    const askedId = askedClientId({ query: query.client_id });

    const clientId = await listedClient(ports.directory, caller, askedId);

    const selected = selectChannels(await ports.channels.channelsOf(clientId), query);

    const data = sliceOf(selected, page).map((channel) => channelView(channel, fields));
    const paging = { total: selected.length, page: page.page, page_size: page.size };
    return answer(200, shaped(ChannelsListAnswer, { data, ...paging, fields: fields.join(',') }));
  });
}

export const handler = deployed(() => channelsList({ ...deployedAccess(), channels: deployedChannels() }));
