import * as v from 'valibot';
import { isKnownCode } from '../errors.ts';
import { recipientKey } from '../faults.ts';
import { RuleList } from '../rule-list.ts';
import { type Course, usualCourse } from './receipts.ts';

const longestMs = 30 * 24 * 3_600_000;
const MsSchema = v.pipe(v.number(), v.integer(), v.minValue(0), v.maxValue(longestMs));
const AfterSchema = v.optional(v.nullable(MsSchema));

/** A rule changes only the given parts of a course. */
export const ReceiptRuleSchema = v.strictObject({
  match: v.optional(v.strictObject({ to: v.optional(v.string()), template: v.optional(v.string()) }), {}),
  course: v.strictObject({
    sent_after_ms: AfterSchema,
    delivered_after_ms: AfterSchema,
    read_after_ms: AfterSchema,
    fail: v.optional(
      v.nullable(v.pipe(v.number(), v.integer(), v.check(isKnownCode, 'is not a code of the platform'))),
    ),
    failed_after_ms: v.optional(MsSchema),
    held_ms: v.optional(MsSchema),
    late_ms: v.optional(MsSchema),
    copies: v.optional(v.pipe(v.number(), v.integer(), v.minValue(1), v.maxValue(10))),
    order: v.optional(v.picklist(['right', 'reversed', 'shuffled'])),
    lost: v.optional(v.boolean()),
  }),
  times: v.optional(v.pipe(v.number(), v.integer(), v.minValue(1))),
});

type ReceiptRule = v.InferOutput<typeof ReceiptRuleSchema>;

export type CourseChanges = ReceiptRule['course'];

export class ReceiptRules extends RuleList<ReceiptRule> {
  /**
   * Returns the usual course, changed by the recipient, then by every matching rule, newest last. Uses up one of the
   * times of each rule.
   */
  courseOf(message: { readonly to: string; readonly template: string | undefined }, magic: CourseChanges = {}): Course {
    const hits = this.takeAll(
      ({ match }) =>
        (match.to === undefined || recipientKey(match.to) === message.to) &&
        (match.template === undefined || match.template === message.template),
    );
    return [magic, ...hits.map(({ course }) => course)].reduce<Course>(changed, usualCourse);
  }
}

function changed(course: Course, changes: CourseChanges): Course {
  const given = Object.entries(changes).filter(([, value]) => value !== undefined);
  return { ...course, ...Object.fromEntries(given) };
}
