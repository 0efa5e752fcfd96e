import { useEffect, useRef, useState } from 'react'
import { useWords } from '../text'
import { showError } from '../toast'

const SHOWN_MS = 2_000

/** The text to copy, or a function that loads it, for example for a hidden secret. */
export type CopySource = string | (() => Promise<string>)

/** Copies a text and shows for a moment that it did; a failure is shown, too. */
export function useCopy(): { isCopied: boolean; copy: (source: CopySource) => void } {
  const [isCopied, setCopied] = useState(false)
  const timer = useRef<ReturnType<typeof setTimeout>>(undefined)
  useEffect(() => () => clearTimeout(timer.current), [])
  const copy = async (source: CopySource) => {
    try {
      await writeClipboard(typeof source === 'string' ? source : await source())
      setCopied(true)
      clearTimeout(timer.current)
      timer.current = setTimeout(() => setCopied(false), SHOWN_MS)
    } catch (fault) {
      showError(fault)
    }
  }
  return { isCopied, copy: (source) => void copy(source) }
}

async function writeClipboard(text: string): Promise<void> {
  // Browsers offer the clipboard only on https and on this machine.
  if (navigator.clipboard) return navigator.clipboard.writeText(text)
  const area = document.createElement('textarea')
  area.value = text
  area.style.position = 'fixed'
  area.style.opacity = '0'
  // Inside an open dialog, which would otherwise take the focus back.
  const parent = document.activeElement?.closest('[role="dialog"]') ?? document.body
  parent.append(area)
  area.select()
  const isCopied = document.execCommand('copy')
  area.remove()
  if (!isCopied) throw new Error(useWords.now().notCopied)
}
