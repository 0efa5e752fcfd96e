import type { ReactNode } from 'react'
import type { Look } from '../../lib/state'

const SHAPES: Record<Look, ReactNode> = {
  ok: (
    <>
      <circle cx="8" cy="8" r="7" fill="var(--st-ok)" stroke="none" />
      <path d="M4.8 8.3l2.2 2.2 4.3-4.6" />
    </>
  ),
  fail: (
    <>
      <path d="M5.1 1h5.8L15 5.1v5.8L10.9 15H5.1L1 10.9V5.1z" fill="var(--st-fail)" stroke="none" />
      <path d="M5.6 5.6l4.8 4.8M10.4 5.6l-4.8 4.8" />
    </>
  ),
  warn: (
    <>
      <path d="M8 1.2L15.2 14H.8z" fill="var(--st-warn)" stroke="var(--st-warn)" strokeWidth="1" />
      <path d="M8 6v3.6M8 11.6v.4" />
    </>
  ),
  run: (
    <>
      <circle cx="8" cy="8" r="6" stroke="var(--st-run)" strokeOpacity=".25" strokeWidth="2.4" />
      <path className="spin" d="M8 2a6 6 0 0 1 6 6" stroke="var(--st-run)" strokeWidth="2.4" />
    </>
  ),
  queue: (
    <circle
      cx="8"
      cy="8"
      r="6"
      stroke="var(--st-queue)"
      strokeWidth="1.8"
      strokeDasharray="2.6 2.1"
    />
  ),
  wait: (
    <>
      <path d="M8 .8L15.2 8 8 15.2.8 8z" fill="var(--st-wait)" stroke="none" />
      <path d="M6.2 6.4a1.9 1.9 0 1 1 2.6 1.8c-.6.3-.8.6-.8 1.1M8 11.3v.3" />
    </>
  ),
  stop: (
    <>
      <rect
        x="1.5"
        y="1.5"
        width="13"
        height="13"
        rx="3"
        stroke="var(--st-stop)"
        strokeWidth="1.8"
      />
      <path d="M6.2 5.5v5M9.8 5.5v5" stroke="var(--st-stop)" />
    </>
  ),
  lost: (
    <>
      <path
        d="M5.1 1.6h5.8l3.5 3.5v5.8l-3.5 3.5H5.1l-3.5-3.5V5.1z"
        stroke="var(--st-lost)"
        strokeWidth="1.6"
      />
      <path
        d="M6.2 6.4a1.9 1.9 0 1 1 2.6 1.8c-.6.3-.8.6-.8 1.1M8 11.3v.3"
        stroke="var(--st-lost)"
      />
    </>
  ),
  cancel: (
    <>
      <circle cx="8" cy="8" r="6.2" stroke="var(--st-cancel)" strokeWidth="1.8" />
      <path d="M4 12l8-8" stroke="var(--st-cancel)" />
    </>
  ),
}

/** The shape of a state. Give it a title unless the text is beside it. */
export function StateIcon({
  look,
  size = 16,
  title,
}: {
  look: Look
  size?: number
  title?: string
}) {
  return (
    <svg
      width={size}
      height={size}
      viewBox="0 0 16 16"
      fill="none"
      stroke="var(--st-on)"
      strokeWidth="1.7"
      strokeLinecap="round"
      strokeLinejoin="round"
      role={title ? 'img' : undefined}
      aria-label={title}
      aria-hidden={title ? undefined : true}
      style={{ flex: 'none', display: 'block' }}
    >
      {title ? <title>{title}</title> : null}
      {SHAPES[look]}
    </svg>
  )
}
