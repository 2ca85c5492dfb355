import * as v from 'valibot';
import { clientEndpoint } from '../lib/access/client-endpoint.ts';
import { directoryStore } from '../lib/access/directory-store.ts';
import { askedClientId, type Clients } from '../lib/access/operating-client.ts';
import { documentClient } from '../lib/aws/dynamodb.ts';
import { environmentVariable } from '../lib/aws/environment.ts';
import { type ChannelStore, channelStore } from '../lib/channels/channel-store.ts';
import { listedClient, selectChannels } from '../lib/channels/listing.ts';
import { appliedFields, channelView } from '../lib/channels/view.ts';
import { answer } from '../lib/http/answer.ts';
import { noBody } from '../lib/http/body.ts';
import type { Endpoint } from '../lib/http/endpoint.ts';
import { parse } from '../lib/http/parse.ts';
import { flag, listFilter, pageOf, pageQuery, sliceOf, textFilter } from '../lib/http/query.ts';

export const ChannelsListQuery = v.object({
  client_id: v.optional(v.string()),
  wa_id: textFilter,
  waba_id: textFilter,
  status: textFilter,
  business_id: textFilter,
  business_name: textFilter,
  q: textFilter,
  deleted: flag('deleted'),
  ...pageQuery,
  fields: listFilter,
});

/** GET /v1/client-messaging-channels: channels of one client or, with `BSP_CN`, of all; filtered and paged (D35). */
export function channelsList(deps: {
  readonly directory: Clients;
  readonly channels: Pick<ChannelStore, 'channelsOf'>;
  readonly nowMs: () => number;
}): Endpoint {
  return clientEndpoint(deps, noBody, async (event) => {
    const { caller } = event;

    const query = parse(ChannelsListQuery, event.queryStringParameters ?? {});
    const page = pageOf(query);
    const fields = appliedFields(query.fields);
    const askedId = askedClientId({ query: query.client_id });

    const clientId = await listedClient(deps.directory, caller, askedId);

    const selected = selectChannels(await deps.channels.channelsOf(clientId), query);

    return answer(200, {
      data: sliceOf(selected, page).map((channel) => channelView(channel, fields)),
      total: selected.length,
      page: page.page,
      page_size: page.size,
      fields: fields.join(','),
    });
  });
}

const store = documentClient();
export const handler = channelsList({
  directory: directoryStore(store, environmentVariable('DIRECTORY_TABLE')),
  channels: channelStore(store, environmentVariable('CHANNELS_TABLE')),
  nowMs: Date.now,
});
