import type { ComponentChildren } from 'preact';
import { type Span, spansOf } from './formatting.ts';
import { Icon } from './icons.tsx';
import { useCopy } from './parts.tsx';
import type { ButtonView, HeaderView, PhoneView } from './phone-view.ts';
import { momentOf } from './texts.ts';

/** A text as the phone formats it. */
export function RichText({ text }: { readonly text: string }) {
  return <>{spansOf(text).map(drawn)}</>;
}

function drawn(span: Span): ComponentChildren {
  if (typeof span === 'string') return span;
  const inside = span.spans.map(drawn);
  if (span.kind === 'bold') return <strong>{inside}</strong>;
  if (span.kind === 'italic') return <em>{inside}</em>;
  if (span.kind === 'struck') return <s>{inside}</s>;
  return <code>{inside}</code>;
}

/** Where a button is: in the message, or in one of its cards; from 0. */
export interface ButtonPlace {
  readonly button: number;
  readonly card?: number;
}

interface BubbleProps {
  readonly view: PhoneView;
  readonly time?: string;
  /** Absent: quick replies are shown and do nothing. */
  readonly onTap?: ((place: ButtonPlace) => void) | undefined;
}

/** One message as the phone shows it. */
export function Bubble({ view, time = '', onTap }: BubbleProps) {
  return (
    <div class="message">
      <div class="bubble">
        <BubbleInside view={view} time={time} onTap={onTap} />
      </div>
      {view.cards.length === 0 ? null : (
        // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reached by the keyboard
        <ul class="carousel" aria-label={`Carousel of ${view.cards.length} cards`} tabIndex={0}>
          {view.cards.map((card, at) => (
            <li key={String(at)} class="bubble card">
              <BubbleInside view={card} onTap={onTap && ((place) => onTap({ ...place, card: at }))} />
            </li>
          ))}
        </ul>
      )}
    </div>
  );
}

function BubbleInside({ view, time = '', onTap }: BubbleProps) {
  const code = view.buttons.find(({ kind, value }) => kind === 'url' && value.includes('/otp/code/'));
  return (
    <>
      {view.header === undefined ? null : <Header header={view.header} />}
      {view.offer === undefined ? null : <Offer offer={view.offer} />}
      <p class="bubble-text" dir="auto">
        <RichText text={view.body} />
      </p>
      {view.footer === '' ? null : (
        <p class="bubble-footer" dir="auto">
          {view.footer}
        </p>
      )}
      {time === '' ? null : <p class="bubble-time">{time}</p>}
      {view.buttons.length === 0 ? null : (
        <ul class="bubble-buttons" aria-label="Buttons">
          {view.buttons.map((button, at) => (
            <li key={String(at)}>
              <PhoneButton
                button={button === code ? codeButton(button) : button}
                onTap={onTap && (() => onTap({ button: at }))}
              />
            </li>
          ))}
        </ul>
      )}
    </>
  );
}

/** A button of a one-time code is sent as an address and shown as what it copies. */
function codeButton(button: ButtonView): ButtonView {
  return {
    ...button,
    kind: 'otp',
    value: URL.parse(button.value)?.searchParams.get('code')?.replace(/^otp/, '') ?? '',
  };
}

function Header({ header }: { readonly header: HeaderView }) {
  if (header.kind === 'text') {
    return (
      <p class="bubble-header" dir="auto">
        {header.text}
      </p>
    );
  }
  if (header.kind === 'location') {
    return (
      <div class="media location">
        <Icon name="location" />
        <p class="media-name">{header.name || 'A place'}</p>
        <p class="media-note">{[header.address, header.at].filter(Boolean).join(' · ')}</p>
      </div>
    );
  }
  if (header.kind === 'product') {
    return (
      <div class="media product">
        <Icon name="product" />
        <p class="media-name">{header.product || 'A product'}</p>
        <p class="media-note">{header.catalog === '' ? 'chosen when it is sent' : `catalog ${header.catalog}`}</p>
      </div>
    );
  }
  return <Media header={header} />;
}

/** Only what was uploaded to the simulator is shown: what is behind a link is never fetched. */
function Media({ header }: { readonly header: Extract<HeaderView, { kind: 'media' }> }) {
  const { format, mediaId, link, name } = header;
  return (
    <div class={`media ${format}`}>
      <Icon name={format} />
      <p class="media-name">{name || format.charAt(0).toUpperCase() + format.slice(1)}</p>
      <p class="media-note">{link || (mediaId === '' ? 'chosen when it is sent' : `media ${mediaId}`)}</p>
      {format === 'image' && /^\d+$/.test(mediaId) ? (
        <img
          src={`/console/media/${mediaId}`}
          alt="Header of the message"
          onError={({ currentTarget }) => {
            currentTarget.hidden = true;
          }}
        />
      ) : null}
    </div>
  );
}

function Offer({ offer }: { readonly offer: NonNullable<PhoneView['offer']> }) {
  return (
    <div class="offer">
      <Icon name="clock" />
      <p>
        <strong>{offer.text || 'Limited offer'}</strong>
        <br />
        {offer.endsMs === undefined ? 'No end was sent' : `Ends ${momentOf(offer.endsMs)}`}
      </p>
    </div>
  );
}

const signs: Readonly<Record<string, string>> = {
  url: 'link',
  quick_reply: 'reply',
  phone_number: 'phone_number',
  voice_call: 'phone_number',
  copy_code: 'copy',
  otp: 'copy',
};

interface PhoneButtonProps {
  readonly button: ButtonView;
  readonly onTap?: (() => void) | undefined;
}

function PhoneButton({ button, onTap }: PhoneButtonProps) {
  const inside = (
    <>
      <Icon name={signs[button.kind] ?? 'list'} />
      <span dir="auto">{button.text}</span>
    </>
  );
  // Only addresses of the web: a template may hold any.
  if (button.kind === 'url' && /^https?:\/\//i.test(button.value)) {
    return (
      <a class="phone-button" href={button.value} target="_blank" rel="noopener noreferrer" title={button.value}>
        {inside}
      </a>
    );
  }
  if (button.kind === 'quick_reply' && onTap !== undefined) {
    return (
      <button type="button" class="phone-button" onClick={onTap}>
        {inside}
      </button>
    );
  }
  if ((button.kind === 'copy_code' || button.kind === 'otp') && button.value !== '') {
    return <CodeButton value={button.value}>{inside}</CodeButton>;
  }
  return (
    <span class="phone-button still" title={button.value}>
      {inside}
      {button.value === '' || button.value === button.text ? null : <small>{button.value}</small>}
    </span>
  );
}

/** Copies its code, as it does on the phone. */
function CodeButton({ value, children }: { readonly value: string; readonly children: ComponentChildren }) {
  const { said, copy } = useCopy(value);
  return (
    <button type="button" class="phone-button" onClick={() => void copy()}>
      {children}
      <small aria-live="polite">{said || value}</small>
    </button>
  );
}
