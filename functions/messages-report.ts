import * as v from 'valibot';
import { deployed, deployedAccess } from '../lib/access/deployed.ts';
import {
  askedClientId,
  clientEndpoint,
  clientIdAdvice,
  DidSchema,
  type Directory,
  operatingDid,
} from '../lib/access/page.ts';
import { answer, type Endpoint, invalid, noBody, parse, Refusal } from '../lib/http/page.ts';
import { countTo, listFilter, textFilter } from '../lib/http/query.ts';
import { deployedReport } from '../lib/messages/deployed.ts';
import { openReport, readPage } from '../lib/messages/outcomes/read-report.ts';
import { reportAnswer, reportMaxLimit, reportPlaceOf, statesOf } from '../lib/messages/outcomes/report.ts';
import type { Report } from '../lib/messages/outcomes/report-store.ts';

const defaultLimit = 100;

export const MessagesReportPath = v.object({ did: DidSchema, dispatchId: v.string() });
export const MessagesReportQuery = v.object({
  client_id: v.optional(v.string()),
  state: listFilter,
  limit: countTo('limit', reportMaxLimit),
  cursor: textFilter,
});

type Ports = { readonly directory: Directory; readonly report: Report; readonly nowMs: () => number };

/** GET /v1/template/messages/{did}/{dispatchId}: what became of the recipients of one dispatch (D40). */
export function messagesReport(ports: Ports): Endpoint {
  return clientEndpoint(ports, noBody, async (event) => {
    const { caller } = event;

    const { did, dispatchId: jobId } = parse(MessagesReportPath, event.pathParameters ?? {});
    const query = parse(MessagesReportQuery, event.queryStringParameters ?? {});
    const question = { jobId, states: statesOf(query.state), limit: query.limit ?? defaultLimit };
    const from = query.cursor === undefined ? undefined : reportPlaceOf(question, query.cursor);
    if (query.cursor !== undefined && from === undefined) throw invalid('cursor', 'cursor is not one of this report');
    const askedId = askedClientId({ query: query.client_id });

    // Side by side, because the report has few round trips; nothing of it is told before the client may use the DID.
    const [operating, open] = await Promise.all([
      operatingDid(ports.directory, caller, { did, askedId }),
      openReport(ports.report, question, from),
    ]);
    if (open?.job.head.clientId !== operating.clientId || open.job.head.did !== did) {
      throw new Refusal('dispatch_not_found', `dispatch not found${clientIdAdvice(caller, askedId)}`);
    }

    const page = await readPage(ports.report, question, open, ports.nowMs());

    return answer(200, reportAnswer(open.job.head, question, page));
  });
}

export const handler = deployed(() => messagesReport({ ...deployedAccess(), report: deployedReport() }));
