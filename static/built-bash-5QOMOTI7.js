import{sa as k}from"./built-chunk-5DREZ7VP.js";var c={};function s(n,e){for(var r=0;r<e.length;r++)c[e[r]]=n}var h=["true","false"],p=["if","then","do","else","elif","while","until","for","in","esac","fi","fin","fil","done","exit","set","unset","export","function"],a=["ab","awk","bash","beep","cat","cc","cd","chown","chmod","chroot","clear","cp","curl","cut","diff","echo","find","gawk","gcc","get","git","grep","hg","kill","killall","ln","ls","make","mkdir","openssl","mv","nc","nl","node","npm","ping","ps","restart","rm","rmdir","sed","service","sh","shopt","shred","source","sort","sleep","ssh","start","stop","su","sudo","svn","tee","telnet","top","touch","vi","vim","wall","wc","wget","who","write","yes","zsh"];s("atom",h);s("keyword",p);s("builtin",a);function w(n,e){if(n.eatSpace())return null;var r=n.sol(),t=n.next();if(t==="\\")return n.next(),null;if(t==="'"||t==='"'||t==="`")return e.tokens.unshift(l(t,t==="`"?"quote":"string")),u(n,e);if(t==="#")return r&&n.eat("!")?(n.skipToEnd(),"meta"):(n.skipToEnd(),"comment");if(t==="$")return e.tokens.unshift(d),u(n,e);if(t==="+"||t==="=")return"operator";if(t==="-")return n.eat("-"),n.eatWhile(/\w/),"attribute";if(t=="<"){if(n.match("<<"))return"operator";var i=n.match(/^<-?\s*(?:['"]([^'"]*)['"]|([^'"\s]*))/);if(i)return e.tokens.unshift(b(i[1]||i[2])),"string.special"}if(/\d/.test(t)&&(n.eatWhile(/\d/),n.eol()||!/\w/.test(n.peek())))return"number";n.eatWhile(/[\w-]/);var o=n.current();return n.peek()==="="&&/\w+/.test(o)?"def":c.hasOwnProperty(o)?c[o]:null}function l(n,e){var r=n=="("?")":n=="{"?"}":n;return function(t,i){for(var o,f=!1;(o=t.next())!=null;){if(o===r&&!f){i.tokens.shift();break}else if(o==="$"&&!f&&n!=="'"&&t.peek()!=r){f=!0,t.backUp(1),i.tokens.unshift(d);break}else{if(!f&&n!==r&&o===n)return i.tokens.unshift(l(n,e)),u(t,i);if(!f&&/['"]/.test(o)&&!/['"]/.test(n)){i.tokens.unshift(v(o,"string")),t.backUp(1);break}}f=!f&&o==="\\"}return e}}function v(n,e){return function(r,t){return t.tokens[0]=l(n,e),r.next(),u(r,t)}}var d=function(n,e){e.tokens.length>1&&n.eat("$");var r=n.next();return/['"({]/.test(r)?(e.tokens[0]=l(r,r=="("?"quote":r=="{"?"def":"string"),u(n,e)):(/\d/.test(r)||n.eatWhile(/\w/),e.tokens.shift(),"def")};function b(n){return function(e,r){return e.sol()&&e.string==n&&r.tokens.shift(),e.skipToEnd(),"string.special"}}function u(n,e){return(e.tokens[0]||w)(n,e)}var g={name:"shell",startState:function(){return{tokens:[]}},token:function(n,e){return u(n,e)},languageData:{autocomplete:h.concat(p,a),closeBrackets:{brackets:["(","[","{","'",'"',"`"]},commentTokens:{line:"#"}}};var T=()=>k.define(g);export{T as support};
/*
Made of static/src. It holds these packages:

@codemirror/legacy-modes 6.5.5 (MIT): Copyright (C) 2018-2021 by Marijn Haverbeke <marijn@haverbeke.berlin> and others

The MIT License

Permission is hereby granted, free of charge, to any person obtaining a copy of this software and associated documentation
files (the "Software"), to deal in the Software without restriction, including without limitation the rights to use, copy,
modify, merge, publish, distribute, sublicense, and/or sell copies of the Software, and to permit persons to whom the Software
is furnished to do so, subject to the following conditions:

The above copyright notice and this permission notice shall be included in all copies or substantial portions of the Software.

THE SOFTWARE IS PROVIDED "AS IS", WITHOUT WARRANTY OF ANY KIND, EXPRESS OR IMPLIED, INCLUDING BUT NOT LIMITED TO THE WARRANTIES
OF MERCHANTABILITY, FITNESS FOR A PARTICULAR PURPOSE AND NONINFRINGEMENT. IN NO EVENT SHALL THE AUTHORS OR COPYRIGHT HOLDERS BE
LIABLE FOR ANY CLAIM, DAMAGES OR OTHER LIABILITY, WHETHER IN AN ACTION OF CONTRACT, TORT OR OTHERWISE, ARISING FROM, OUT OF OR
IN CONNECTION WITH THE SOFTWARE OR THE USE OR OTHER DEALINGS IN THE SOFTWARE.
*/
