import * as v from 'valibot';

const loopback = /^http:\/\/(?:127\.0\.0\.1|localhost|\[::1\]):\d{1,5}$/;

const UserSchema = v.object({
  username: v.string(),
  password: v.string(),
  client_id: v.number(),
  permissions: v.array(v.string()),
  campaign_ids: v.array(v.number()),
});
const CodeSchema = v.looseObject({ code: v.string(), where: v.string(), title: v.string() });

export const ServiceFactsSchema = v.strictObject({
  url: v.nullable(v.pipe(v.string(), v.regex(loopback, 'must be an address of this machine: http://127.0.0.1:PORT'))),
  users: v.optional(v.array(UserSchema)),
  document: v.optional(v.looseObject({ paths: v.record(v.string(), v.unknown()) })),
  codes: v.optional(v.array(CodeSchema)),
});

/** What the service beside the simulator has told of itself; nothing at first. */
export class KnownService {
  url: string | undefined;
  users: readonly v.InferOutput<typeof UserSchema>[] = [];
  /** Its OpenAPI document as JSON; `null` when it has told none. */
  document = 'null';
  #codes: readonly v.InferOutput<typeof CodeSchema>[] = [];

  /** What is absent stays as it was. */
  learn({ url, users, document, codes }: v.InferOutput<typeof ServiceFactsSchema>): void {
    this.url = url ?? undefined;
    if (users !== undefined) this.users = users;
    if (document !== undefined) this.document = JSON.stringify(document);
    if (codes !== undefined) this.#codes = codes;
  }

  /**
   * Returns the meanings of a code in all places, none for an unknown code. An entry may be of a subcode
   * (`100/2388023`), of a range (`200-299`) or of `http_<status>`.
   */
  explained(code: string): readonly object[] {
    const names = [
      code,
      ...(/^http_\d{3}$/.test(code) ? ['http_<status>'] : []),
      ...(/^2\d\d$/.test(code) ? ['200-299'] : []),
    ];
    return this.#codes.filter((each) => names.includes(each.code) || each.code.split('/')[1] === code);
  }
}
