// The bar that asks once which clock to use, where nobody chose Daybook's and this browser's is another.

import {$, keepZone, speakTimes} from '/static/dom.js';
import {call} from '/static/net.js';
import {t} from '/static/texts.js';

export async function offerZone(here, done) {   // `here`: Daybook's zone; `done` is called once its clock is another
  const zone = Intl.DateTimeFormat().resolvedOptions().timeZone;
  if (!zone || zone === here) return;
  let found;
  try { found = await call('zone.offer', {zone, language: document.documentElement.lang}); } catch { return; }
  if (!found?.asks) return;
  const {there, there_time, here: own, here_time} = found;
  $('zone-text').textContent = t('Your browser is in {there} ({there_time}), and I am on {here} ({here_time}).', {there, there_time, here: own, here_time});
  $('zone-yes').textContent = t('Use {place}', {place: there});
  $('zone-no').textContent = t('Keep {place}', {place: own});
  $('zone-yes').onclick = () => choose(zone);
  $('zone-no').onclick = () => choose(here);
  $('zone').hidden = false;

  async function choose(value) {
    $('zone').inert = true;
    try { await call('config.set', {key: 'timezone', value}); } catch (problem) {
      $('zone-text').textContent = problem.message || t('Daybook is offline');
      $('zone').inert = false;
      return;
    }
    $('zone').hidden = true;
    $('zone').inert = false;
    if (value === here) { done(); return; }
    keepZone(value);
    speakTimes($('messages'));
    done({isMoved: true});
  }
}
