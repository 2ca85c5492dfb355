import * as v from 'valibot';
import { permissions } from '../access/caller.ts';
import { didPattern } from '../access/directory.ts';
import { isPasswordHash, passwordMaxLength } from '../access/sign-in/password.ts';
import { usernamePattern } from '../access/sign-in/sign-in.ts';
import { zoneNamed } from '../access/time-zone.ts';
import { faultOf } from '../http/parse.ts';
import type { Fault } from '../http/refusal.ts';
import { folded, longestText } from '../opt-outs/stop-words.ts';
import { relationFaults } from './provisioning-relations.ts';
import { unknownFields } from './unknown-fields.ts';

/**
 * Routes could have these words in place of a DID or a template id. The gateway would choose another route, so they are
 * no valid ids (D36, R2).
 */
export const reservedPathWords: ReadonlySet<string> = new Set([
  'status',
  'sync-from-platform',
  'channel-campaigns',
  'channel-campaigns-grouped',
  'messages',
]);

const id = v.pipe(v.number(), v.safeInteger(), v.minValue(1));
const text = v.pipe(v.string(), v.trim(), v.minLength(1), v.maxLength(256));
const digits = v.pipe(v.string(), v.regex(/^\d{1,32}$/, 'must be 1 to 32 digits'));

const credentialName = v.pipe(
  v.string(),
  v.regex(/^[A-Za-z][A-Za-z0-9_-]{0,63}$/, 'must be 1 to 64 letters, digits, _ or -, a letter first'),
);

const did = v.pipe(
  v.string(),
  v.check((value) => !reservedPathWords.has(value), 'is a word of a route and cannot be a DID'),
  v.regex(didPattern, 'must be 5 to 20 digits'),
);

/** Secrets have their own messages, because valibot's would quote the value. */
const secret = (name: string, maxLength: number) =>
  v.pipe(
    v.string(`${name} must be text`),
    v.minLength(8, `${name} must have at least 8 characters`),
    v.maxLength(maxLength, `${name} must have at most ${maxLength} characters`),
  );

/** A token of the platform is from a file or an operator. It travels in a header, which takes no other characters. */
export const accessTokenSchema = v.pipe(
  secret('the access token', 1_024),
  v.regex(/^[!-~]*$/, 'the access token must be ASCII letters, digits and signs, without blanks'),
);

/** No client spends as much in a month, and the number is exact in units (pricing/money.ts). */
const mostDollars = 10_000_000;

/** Budgets are in cents, as on a bill, although rates have up to eight decimals. */
const dollars = v.pipe(
  v.number(),
  v.minValue(0.01, 'must be at least 0.01 dollars'),
  v.maxValue(mostDollars),
  v.check((amount) => Number(amount.toFixed(2)) === amount, 'must be dollars with up to two decimals'),
);

const UserSchema = v.pipe(
  v.strictObject({
    username: v.pipe(v.string(), v.regex(usernamePattern, 'must be 1 to 128 letters, digits or . _ @ + -')),
    client_id: id,
    password: v.optional(secret('the password', passwordMaxLength)),
    password_hash: v.optional(
      v.pipe(
        v.string('the password hash must be text'),
        v.check(isPasswordHash, 'the password hash must be a PHC string, argon2id or scrypt, within 64 MiB'),
      ),
    ),
    permissions: v.array(v.picklist(permissions, `must be one of the permissions ${permissions.join(', ')}`)),
    campaign_ids: v.array(id),
  }),
  // The check runs whatever else is wrong with the user.
  v.partialCheck(
    [['password'], ['password_hash']],
    (user) => (user.password === undefined) !== (user.password_hash === undefined),
    'a user has either password or password_hash',
  ),
);

/** People write or tap them. Three lists of this size fit into one item in any script. */
const words = v.pipe(
  v.array(
    v.pipe(
      v.string(),
      v.maxLength(longestText, `a word must have at most ${longestText} characters`),
      v.check((word) => folded(word) !== '', 'a word must have a letter or a digit: nothing else of it counts'),
    ),
  ),
  v.maxLength(200, 'must be at most 200 words'),
);

/** Without a word, no person could stop this way. */
const stoppingWords = v.pipe(words, v.minLength(1, 'must have a word: without any, people could not stop'));

/** The schema checks a file alone; provisioning-relations.ts checks its entries against each other. */
export const ProvisioningFileSchema = v.strictObject({
  /** Editors find the JSON Schema there. */
  $schema: v.optional(v.string()),
  clients: v.array(
    v.strictObject({
      client_id: id,
      name: text,
      /** Its UTILITY messages may heed opt-outs as well (D55). */
      opt_outs_for_utility: v.optional(v.boolean(), false),
      /** `Send-Window` and `Send-Days` use it when a recipient's own is unknown (D56). */
      zone: v.optional(
        v.pipe(
          v.string(),
          v.check(
            (text) => zoneNamed(text) !== undefined,
            'must be an IANA time zone (Area/Place such as Europe/Madrid, or UTC)',
          ),
        ),
      ),
      /** The budget for a month of UTC is in dollars at list prices; with `stop`, sends above it are refused (D58). */
      monthly_budget: v.optional(v.strictObject({ amount: dollars, stop: v.optional(v.boolean(), false) })),
    }),
  ),
  wabas: v.array(
    v.strictObject({
      waba_id: digits,
      name: text,
      namespace: text,
      client_ids: v.pipe(v.array(id), v.minLength(1)),
      credential: credentialName,
      /** Its clients may use the channels of the whole WABA, or each only its own (D5). */
      dids: v.optional(v.picklist(['waba', 'own'], "must be 'waba' or 'own'"), 'waba'),
      /** An opt-out that the platform reports counts for its number, or for the WABA (D55). */
      platform_stops: v.optional(v.picklist(['number', 'waba'], "must be 'number' or 'waba'"), 'number'),
      business_id: text,
      business_name: text,
    }),
  ),
  channels: v.array(
    v.strictObject({
      channel_id: id,
      did,
      /** The name is optional: answers leave an empty one out. */
      name: v.optional(v.pipe(v.string(), v.trim(), v.maxLength(256)), ''),
      client_id: id,
      waba_id: digits,
      phone_number_id: digits,
      throughput_per_second: v.pipe(v.number(), v.integer(), v.minValue(1), v.maxValue(1_000)),
      /** Its sends name it, if the number has several (platform reference, 8). */
      messaging_account_id: v.optional(digits),
    }),
  ),
  campaigns: v.array(
    v.strictObject({
      campaign_id: id,
      client_id: id,
      name: v.pipe(text, v.notValue('Unassigned', "'Unassigned' is the name of the placeholder")),
    }),
  ),
  users: v.array(UserSchema),
  platform_credentials: v.optional(
    v.array(
      v.strictObject({
        name: credentialName,
        access_token: accessTokenSchema,
        app_id: digits,
      }),
    ),
    [],
  ),
  /** These apps may call the platform webhook, for their WABAs (D38). */
  platform_apps: v.optional(
    v.array(
      v.strictObject({
        id: digits,
        app_secret: secret('the app secret', 256),
        /** The secret is valid beside `app_secret` during a change of secrets. */
        previous_app_secret: v.optional(secret('the previous app secret', 256)),
        verify_token: secret('the verify token', 256),
        wabas: v.array(digits),
      }),
    ),
    [],
  ),
  /** People write or tap these to end and restart marketing; each list replaces the shipped one (D55). */
  opt_out_words: v.optional(
    v.strictObject({
      stop: v.optional(stoppingWords),
      start: v.optional(words),
      stop_buttons: v.optional(stoppingWords),
    }),
  ),
});

/** An operator describes all entries in one file (D36). */
export type ProvisioningFile = v.InferOutput<typeof ProvisioningFileSchema>;

/** The file must not be written; every fault is here. */
export class ProvisioningFaults extends Error {
  readonly faults: readonly Fault[];

  constructor(faults: readonly Fault[]) {
    super(faults.map(({ path, message }) => (message.includes(path) ? message : `${path}: ${message}`)).join('\n'));
    this.name = 'ProvisioningFaults';
    this.faults = faults;
  }
}

/**
 * Parses a provisioning file. Throws `ProvisioningFaults` with all faults: shapes, unknown fields, relations, and
 * `textFaults` of the raw text. `storedCredentials` names platform credentials that the file may omit.
 */
export function provisioningFile(
  data: unknown,
  storedCredentials: Iterable<string>,
  textFaults: readonly Fault[] = [],
): ProvisioningFile {
  const parsed = v.safeParse(ProvisioningFileSchema, data);
  const faults = [
    ...textFaults,
    ...(parsed.issues ?? []).filter((issue) => !isUnknownField(issue)).map(faultOf),
    ...unknownFields(ProvisioningFileSchema, data),
    ...relationFaults(data, storedCredentials),
  ];
  if (!parsed.success || faults.length > 0) throw new ProvisioningFaults(faults);
  return parsed.output;
}

/** `unknownFields` reports these, and those that valibot leaves out. */
function isUnknownField(issue: v.BaseIssue<unknown>): boolean {
  return issue.type === 'strict_object' && issue.expected === 'never';
}
