// Search, theme, copy buttons and the menu of the documentation. A plain script without imports:
// pages that are opened as files cannot load modules.
;(() => {
  const root = document.documentElement
  const SCHEME = 'belvedere-scheme'
  const PREFS = 'belvedere-prefs'
  const dark = matchMedia('(prefers-color-scheme: dark)')
  root.classList.add('scripted')
  for (const element of document.querySelectorAll('.top > [hidden]')) element.hidden = false

  // The theme is the console's: the same key in the storage of the same origin.
  const stored = (key) => {
    try {
      return localStorage.getItem(key)
    } catch {
      return null
    }
  }
  const toggle = document.querySelector('.scheme')
  function applyScheme() {
    const choice = stored(SCHEME) || 'auto'
    showScheme(choice === 'auto' ? (dark.matches ? 'dark' : 'light') : choice)
  }
  function showScheme(scheme) {
    root.setAttribute('data-mantine-color-scheme', scheme)
    toggle.textContent = scheme === 'dark' ? '☀' : '☾'
  }
  toggle.addEventListener('click', () => {
    const scheme = root.getAttribute('data-mantine-color-scheme') === 'dark' ? 'light' : 'dark'
    showScheme(scheme)
    try {
      localStorage.setItem(SCHEME, scheme)
      localStorage.setItem(PREFS, JSON.stringify({ ...JSON.parse(stored(PREFS) || '{}'), scheme }))
    } catch {}
  })
  dark.addEventListener('change', applyScheme)
  addEventListener('storage', applyScheme)
  applyScheme()

  const menu = document.querySelector('.menu')
  const side = document.getElementById('site-navigation')
  menu.addEventListener('click', () => {
    menu.setAttribute('aria-expanded', String(side.classList.toggle('open')))
  })
  const current = side.querySelector('[aria-current]')
  if (current && current.offsetTop > side.clientHeight) side.scrollTop = current.offsetTop - 120

  for (const block of document.querySelectorAll('.code')) {
    const button = document.createElement('button')
    button.type = 'button'
    button.textContent = 'Copy'
    button.addEventListener('click', async () => {
      const text = block.dataset.copy ?? block.querySelector('code').textContent
      button.textContent = (await copy(text)) ? 'Copied' : 'Not copied'
      setTimeout(() => {
        button.textContent = 'Copy'
      }, 2000)
    })
    block.append(button)
  }

  /** Without HTTPS the browser has no clipboard for pages, but still copies a selection. */
  async function copy(text) {
    if (navigator.clipboard) {
      return navigator.clipboard.writeText(text).then(
        () => true,
        () => false,
      )
    }
    const area = document.createElement('textarea')
    area.value = text
    document.body.append(area)
    area.select()
    const isCopied = document.execCommand('copy')
    area.remove()
    return isCopied
  }

  /** What scrolls sideways can be reached with the keyboard. */
  function markScrollable() {
    for (const box of document.querySelectorAll('.table, .code pre')) {
      if (box.scrollWidth > box.clientWidth) box.tabIndex = 0
      else box.removeAttribute('tabindex')
    }
  }
  addEventListener('resize', markScrollable)
  addEventListener('load', markScrollable)

  const MAX_RESULTS = 30
  const form = document.querySelector('.search')
  const input = form.querySelector('input')
  const list = document.getElementById('site-results')
  const status = form.querySelector('[role=status]')
  let loading = null
  let selected = -1

  function load() {
    loading ??= new Promise((resolve, reject) => {
      const script = document.createElement('script')
      script.src = form.dataset.index
      script.onload = () => resolve(prepare(window.searchIndex))
      script.onerror = reject
      document.head.append(script)
    })
    return loading
  }
  function prepare([pages, entries]) {
    return entries.map(([number, anchor, title, text]) => ({
      page: pages[number],
      anchor,
      title,
      text,
      inTitle: `${pages[number][1]} ${title}`.toLowerCase(),
      inText: text.toLowerCase(),
    }))
  }

  /** All words must occur; words in a heading and starts of words count more. */
  function score(entry, words) {
    let total = 0
    for (const word of words) {
      const inTitle = entry.inTitle.indexOf(word)
      const inText = entry.inText.indexOf(word)
      if (inTitle < 0 && inText < 0) return 0
      if (inTitle >= 0) total += isStart(entry.inTitle, inTitle) ? 40 : 15
      if (inText >= 0) total += isStart(entry.inText, inText) ? 4 : 1
    }
    const phrase = words.join(' ')
    if (entry.title.toLowerCase() === phrase) total += 60
    else if (entry.inTitle.includes(phrase)) total += 20
    if (!entry.anchor) total += 6
    if (entry.page[2] === 'How-to') total += 5
    if (entry.page[2] === 'Contributing') total *= 0.4
    return total
  }
  function isStart(text, position) {
    return position === 0 || /[^\p{L}\d]/u.test(text[position - 1])
  }

  async function search() {
    const words = input.value.toLowerCase().split(/\s+/).filter(Boolean)
    if (!words.length) return close()
    const entries = await load()
    const hits = entries
      .map((entry) => ({ entry, score: score(entry, words) }))
      .filter((hit) => hit.score > 0)
      .sort((a, b) => b.score - a.score)
    show(hits.slice(0, MAX_RESULTS), words, hits.length)
  }

  function show(hits, words, count) {
    list.replaceChildren(...hits.map(({ entry }, number) => option(entry, words, number)))
    if (!hits.length) list.append(paragraph('No page contains these words.'))
    status.textContent = count === 1 ? '1 result' : `${count} results`
    list.hidden = false
    input.setAttribute('aria-expanded', 'true')
    list.scrollTop = 0
    select(hits.length ? 0 : -1)
  }
  function option(entry, words, number) {
    const link = document.createElement('a')
    link.id = `result-${number}`
    link.role = 'option'
    link.tabIndex = -1
    link.href = form.dataset.root + entry.page[0] + (entry.anchor && `#${entry.anchor}`)
    const title = document.createElement('b')
    title.textContent = entry.anchor ? `${entry.page[1]}: ${entry.title}` : entry.title
    const text = document.createElement('span')
    text.append(...excerpt(entry, words))
    link.append(title, text)
    return link
  }
  function excerpt(entry, words) {
    const first = Math.max(0, ...words.map((word) => entry.inText.indexOf(word)))
    const start = Math.max(0, first - 30)
    const text = (start ? '… ' : '') + entry.text.slice(start, start + 160)
    const places = words.map((word) => word.replace(/[.*+?^${}()|[\]\\]/g, '\\$&'))
    return text.split(new RegExp(`(${places.join('|')})`, 'i')).map((part, at) => {
      if (at % 2 === 0) return part
      const mark = document.createElement('mark')
      mark.textContent = part
      return mark
    })
  }
  function paragraph(text) {
    const element = document.createElement('p')
    element.role = 'option'
    element.textContent = text
    return element
  }
  function select(number) {
    const options = list.querySelectorAll('a')
    selected = options.length ? (number + options.length) % options.length : -1
    options.forEach((link, at) => {
      link.setAttribute('aria-selected', String(at === selected))
    })
    const link = options[selected]
    if (link) input.setAttribute('aria-activedescendant', link.id)
    else input.removeAttribute('aria-activedescendant')
    link?.scrollIntoView({ block: 'nearest' })
  }
  function close() {
    list.hidden = true
    status.textContent = ''
    input.setAttribute('aria-expanded', 'false')
    input.removeAttribute('aria-activedescendant')
  }

  input.addEventListener('focus', () => {
    load().catch(() => {})
  })
  input.addEventListener('input', search)
  input.addEventListener('keydown', (event) => {
    if (event.key === 'ArrowDown') select(selected + 1)
    else if (event.key === 'ArrowUp') select(selected - 1)
    else if (event.key === 'Escape') close()
    else return
    event.preventDefault()
  })
  form.addEventListener('submit', async (event) => {
    event.preventDefault()
    // The index may still be on its way. Searching again would lose the selection.
    if (list.hidden) await search()
    const link = list.querySelector('[aria-selected="true"]')
    if (link) {
      link.click()
      close()
    }
  })
  document.addEventListener('click', (event) => {
    if (!form.contains(event.target) || event.target.closest('.results a')) close()
  })
  document.addEventListener('keydown', (event) => {
    const isSlash = event.key === '/' && !/INPUT|TEXTAREA/.test(document.activeElement.tagName)
    const isPalette = event.key === 'k' && (event.ctrlKey || event.metaKey)
    if (!isSlash && !isPalette) return
    event.preventDefault()
    input.focus()
    input.select()
  })
})()
