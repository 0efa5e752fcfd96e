import type { Page } from 'playwright-core'

export interface Frames {
  p50: number
  p95: number
  worst: number
  longest: number
}

/** Scrolls an element at a steady speed and keeps the times between frames, in ms. */
export async function scrollFrames(
  page: Page,
  selector: string,
  speed = 5000,
  seconds = 4,
): Promise<Frames> {
  return page.evaluate(
    async ({ selector, speed, seconds }) => {
      const box = document.querySelector(selector) as HTMLElement
      const tasks: number[] = []
      const watch = new PerformanceObserver((list) => {
        for (const entry of list.getEntries()) tasks.push(entry.duration)
      })
      watch.observe({ entryTypes: ['longtask'] })
      const gaps: number[] = []
      const begun = performance.now()
      let last = begun
      await new Promise<void>((done) => {
        const step = (now: number) => {
          gaps.push(now - last)
          last = now
          box.scrollTop = ((now - begun) / 1000) * speed
          if (now - begun < seconds * 1000) requestAnimationFrame(step)
          else done()
        }
        requestAnimationFrame(step)
      })
      watch.disconnect()
      gaps.sort((a, b) => a - b)
      const at = (share: number) =>
        gaps[Math.min(gaps.length - 1, Math.floor(gaps.length * share))] ?? 0
      return { p50: at(0.5), p95: at(0.95), worst: at(1), longest: Math.max(0, ...tasks) }
    },
    { selector, speed, seconds },
  )
}

/** The times between frames while something else happens. */
export async function during(page: Page, act: () => Promise<void>): Promise<Frames> {
  await page.evaluate(() => {
    const recording: { gaps: number[]; stop: boolean } = { gaps: [], stop: false }
    ;(window as any).kept = recording
    let last = performance.now()
    const step = (now: number) => {
      recording.gaps.push(now - last)
      last = now
      if (!recording.stop) requestAnimationFrame(step)
    }
    requestAnimationFrame(step)
  })
  await act()
  return page.evaluate(() => {
    const recording = (window as any).kept as { gaps: number[]; stop: boolean }
    recording.stop = true
    const gaps = recording.gaps.sort((a, b) => a - b)
    const at = (share: number) =>
      gaps[Math.min(gaps.length - 1, Math.floor(gaps.length * share))] ?? 0
    return { p50: at(0.5), p95: at(0.95), worst: at(1), longest: 0 }
  })
}

export function printFrames(name: string, budget: string, frames: Frames): void {
  const ms = (value: number) => value.toFixed(1).padStart(7)
  process.stdout.write(
    `${name.padEnd(44)} p50${ms(frames.p50)}  p95${ms(frames.p95)}  worst${ms(frames.worst)}  longest task${ms(frames.longest)} ms  (${budget})\n`,
  )
}
