import * as v from 'valibot';
import { inAnyLetterCase } from '../../http/documented.ts';
import { bareFormats, mediaFormats } from '../rules/header-formats.ts';

/*
 * These shapes are for the interface's document only (D48). The rules check real components, because they need the
 * category and find all faults. Objects are open, because an edit takes back what a listing shows.
 */

const word = <const Word extends string>(name: Word) => inAnyLetterCase([name]);
const text = v.string();
const texts = v.array(v.string());

export const TextHeaderShape = v.object({
  type: word('HEADER'),
  format: word('TEXT'),
  text,
  example: v.optional(v.object({ header_text: v.optional(texts) })),
});

export const MediaHeaderShape = v.object({
  type: word('HEADER'),
  format: inAnyLetterCase(mediaFormats),
  header_source: v.optional(text),
  header_handle: v.optional(text),
  example: v.optional(v.object({ header_handle: v.optional(texts) })),
});

export const PlainHeaderShape = v.object({
  type: word('HEADER'),
  format: inAnyLetterCase(bareFormats),
});

export const BodyShape = v.object({
  type: word('BODY'),
  text,
  example: v.optional(v.object({ body_text: v.optional(v.union([texts, v.array(texts)])) })),
});

/** The platform writes the text of one-time codes. */
export const CodeBodyShape = v.object({
  type: word('BODY'),
  add_security_recommendation: v.optional(v.boolean()),
});

export const FooterShape = v.object({ type: word('FOOTER'), text });

export const CodeFooterShape = v.object({
  type: word('FOOTER'),
  code_expiration_minutes: v.optional(v.number()),
});

export const LabelButtonShape = v.object({
  type: inAnyLetterCase(['QUICK_REPLY', 'VOICE_CALL', 'CATALOG', 'MPM', 'SPM']),
  text,
});

export const UrlButtonShape = v.object({
  type: word('URL'),
  text,
  url: text,
  example: v.optional(v.union([texts, text])),
});

export const PhoneButtonShape = v.object({ type: word('PHONE_NUMBER'), text, phone_number: text });

export const CouponButtonShape = v.object({
  type: word('COPY_CODE'),
  text: v.optional(text),
  example: v.union([text, texts]),
});

export const FlowButtonShape = v.object({
  type: word('FLOW'),
  text,
  flow_id: v.optional(text),
  flow_name: v.optional(text),
  flow_json: v.optional(text),
  flow_action: v.optional(inAnyLetterCase(['NAVIGATE', 'DATA_EXCHANGE'])),
  navigate_screen: v.optional(text),
  icon: v.optional(inAnyLetterCase(['DOCUMENT', 'PROMOTION', 'REVIEW'])),
});

export const CodeButtonShape = v.object({
  type: word('OTP'),
  otp_type: inAnyLetterCase(['COPY_CODE', 'ONE_TAP', 'ZERO_TAP']),
  text: v.optional(text),
  autofill_text: v.optional(text),
  supported_apps: v.optional(v.array(v.object({ package_name: text, signature_hash: text }))),
  zero_tap_terms_accepted: v.optional(v.boolean()),
});

export const ButtonsShape = v.object({
  type: word('BUTTONS'),
  buttons: v.array(
    v.union([LabelButtonShape, UrlButtonShape, PhoneButtonShape, CouponButtonShape, FlowButtonShape, CodeButtonShape]),
  ),
});

export const CardShape = v.object({
  components: v.array(v.union([MediaHeaderShape, PlainHeaderShape, BodyShape, ButtonsShape])),
});

export const CarouselShape = v.object({ type: word('CAROUSEL'), cards: v.array(CardShape) });

export const OfferShape = v.object({
  type: word('LIMITED_TIME_OFFER'),
  limited_time_offer: v.object({ text, has_expiration: v.optional(v.boolean()) }),
});

export const ComponentShape = v.union([
  TextHeaderShape,
  MediaHeaderShape,
  PlainHeaderShape,
  BodyShape,
  CodeBodyShape,
  FooterShape,
  CodeFooterShape,
  ButtonsShape,
  CarouselShape,
  OfferShape,
]);
